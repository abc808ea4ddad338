"""`gaby audit keys`, `trust`, `restart-anchors`, `rebuild-tree`: what is kept beside the log, and put right there."""

from pathlib import Path
from typing import Annotated

import typer

from gaby.app import Gaby
from gaby.audit import PinFile, snapshot
from gaby.audit.anchor_comparison import ANCHORS_RESTARTED_EVENT
from gaby.audit.derived_checks import rebuild_tiles
from gaby.audit.key_pins import KeyPins, pins_text
from gaby.audit.notes import log_keys
from gaby.audit.source import DatabaseSource
from gaby.audit.statements import KeyEntry
from gaby.audit.transactions import in_transaction
from gaby.audit.trust import TrustedKeys
from gaby.cli.output import echo
from gaby.cli.runtime import operator, run
from gaby.kernel.database.raw_sql import SqlRunner
from gaby.kernel.errors import BadRequest, NotFound
from gaby.kernel.ids import SYSTEM


def keys(
    log: Annotated[bool, typer.Option("--log", help="One line for each key, as witnesses take them.")] = False,
) -> None:
    """Print the keys that are pinned here, for `gaby audit verify --pins` on another machine."""

    async def load_pins(gaby: Gaby) -> KeyPins:
        pins = PinFile(gaby.settings.anchor_path).load()
        if pins is None:
            raise NotFound("No key is pinned here yet. The first checkpoint pins it; see also `gaby audit trust`.")
        return pins

    pins = run(load_pins, fresh=False)
    echo("\n".join(map(str, log_keys(pins.keys))) if log else pins_text(pins).decode(), nl=log)


def trust(
    key_id: Annotated[str, typer.Argument(help="The id that you wrote down, or the whole public key.")],
) -> None:
    """Pin the keys of this log, after you compared one of them with what you know from elsewhere."""

    async def trust_key(gaby: Gaby) -> Path:
        with snapshot(gaby.database) as source:
            entries = source.keys()
        ring = TrustedKeys(entries, trusted=key_id)
        if ring.problems or not entries:
            raise BadRequest(ring.problems[0] if ring.problems else "No key has signed this log yet.")
        file = PinFile(gaby.settings.anchor_path)
        _refuse_other_pins(file, entries)
        file.save(entries)
        return file.path

    echo(f"The keys are pinned in {run(trust_key, fresh=False)}.", err=True)


def restart_anchors(
    reason: Annotated[str, typer.Option(help="Why the anchors begin anew. It becomes a row of the log.")],
) -> None:
    """Begin a new file of anchors, after one was lost or an old backup was put back on purpose."""

    async def start_new_anchors(gaby: Gaby) -> str | None:
        path = gaby.settings.anchor_path
        stamp = gaby.clock.now().strftime("%Y%m%dT%H%M%S")
        moved = path.with_name(f"{path.stem}-until-{stamp}{path.suffix}") if path.exists() else None
        if moved is not None:
            # The old file is evidence, and is kept.
            path.rename(moved)
        kept_as = moved.name if moved is not None else None
        payload = {"reason": reason, "kept_as": kept_as}
        await gaby.audit.append(SYSTEM, operator(), ANCHORS_RESTARTED_EVENT, payload)
        await gaby.checkpointer.checkpoint()
        return kept_as

    kept_as = run(start_new_anchors, fresh=False)
    echo(f"A new file begins.{f' The old one is {kept_as}; keep it.' if kept_as else ''}", err=True)


def rebuild_tree() -> None:
    """Make the stored Merkle tree anew from the rows, when `verify` says that it is damaged."""

    async def rebuild_merkle_tree(gaby: Gaby) -> int:
        dialect = gaby.database.dialect
        return await in_transaction(
            gaby.database,
            lambda connection: rebuild_tiles(DatabaseSource(connection, dialect), SqlRunner(connection, dialect)),
        )

    echo(f"{run(rebuild_merkle_tree, fresh=False)} tiles written. Run `gaby audit verify`.", err=True)


def _refuse_other_pins(file: PinFile, entries: list[KeyEntry]) -> None:
    pins = file.load()
    if pins is not None and (problem := pins.problem(entries)) is not None:
        raise BadRequest(f"{problem} To trust this log all the same, move {file.path} aside first.")
