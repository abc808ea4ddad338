"""`gaby knowledge gaps` and `gaby knowledge learned`: what is missing, and what Gaby would like to learn."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from gaby.app import Gaby
from gaby.cli.output import AsJson, print_rows
from gaby.cli.runtime import run
from gaby.cli.workspace_option import InWorkspace, operator_in
from gaby.kernel.actors import Actor
from gaby.kernel.errors import BadRequest
from gaby.knowledge.schemas import CandidateOut, GapOut
from gaby.knowledge.source_service import LEARNED
from gaby.knowledge.sync import AlreadySyncing


def gaps(
    close: Annotated[UUID | None, typer.Option(help="The id of a gap that somebody closed.")] = None,
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Show questions that found no answer, alike ones together, the most asked first."""

    async def load_gaps(gaby: Gaby) -> list[GapOut]:
        actor = await operator_in(gaby, workspace)
        components = gaby.knowledge.components
        if close is not None:
            async with gaby.database.write(actor.workspace_id) as session:
                await components.gaps.close(session, actor, close)
        async with gaby.database.read(actor.workspace_id) as session:
            return [GapOut.from_domain(row) for row in await components.gaps.list(session)]

    rows = [
        gap.model_dump()
        if as_json
        else {"asked": gap.asked, "question": gap.question, "last": gap.last_at, "also": gap.examples[1:], "id": gap.id}
        for gap in run(load_gaps)
    ]
    print_rows(rows, as_json=as_json, empty="Every question that was asked found an answer.")


def learned(
    state: Annotated[str, typer.Option(help="staged, accepted, rejected or archived.")] = "staged",
    accept: Annotated[UUID | None, typer.Option(help="Accept this candidate.")] = None,
    reject: Annotated[UUID | None, typer.Option(help="Reject this candidate, with --reason.")] = None,
    text_file: Annotated[Path | None, typer.Option(help="With --accept: the edited text.")] = None,
    unlearn: Annotated[UUID | None, typer.Option(help="Take back what was accepted, with --reason.")] = None,
    reason: Annotated[str, typer.Option(help="With --reject and --unlearn: why.")] = "",
    workspace: InWorkspace = None,
    as_json: AsJson = False,
) -> None:
    """Show what Gaby would like to learn from resolved tickets, and decide about it."""
    if state not in {"staged", "accepted", "rejected", "archived"}:
        raise BadRequest("A candidate is staged, accepted, rejected or archived.")
    if sum(each is not None for each in (accept, reject, unlearn)) > 1:
        raise BadRequest("Decide about one candidate at a time.")
    if text_file is not None and accept is None:
        raise BadRequest("The edited text belongs to --accept.")
    edited = _read(text_file) if text_file is not None else None

    async def load_candidates(gaby: Gaby) -> list[CandidateOut]:
        actor = await operator_in(gaby, workspace)
        candidates = gaby.knowledge.components.candidates
        async with gaby.database.write(actor.workspace_id) as session:
            if accept is not None:
                await candidates.accept(session, actor, await candidates.get(session, accept), text=edited)
            if reject is not None:
                await candidates.reject(session, actor, await candidates.get(session, reject), reason)
            if unlearn is not None:
                await candidates.unlearn(session, actor, await candidates.get(session, unlearn), reason)
        if accept is not None or unlearn is not None:
            await _sync_learned(gaby, actor)
        async with gaby.database.read(actor.workspace_id) as session:
            return [CandidateOut.from_domain(row) for row in await candidates.list(session, state)]

    rows = [
        row.model_dump()
        if as_json
        else {"title": row.title, "from": row.origin, "seen": row.seen, "since": row.staged_at, "id": row.id}
        for row in run(load_candidates)
    ]
    print_rows(rows, as_json=as_json, empty=f"Nothing is {state}.")


async def _sync_learned(gaby: Gaby, actor: Actor) -> None:
    """So that it is found, or gone, at once."""
    async with gaby.database.read(actor.workspace_id) as session:
        row = await gaby.knowledge.components.sources.named(session, LEARNED)
    with suppress(AlreadySyncing):
        await gaby.knowledge.components.syncer.sync(actor, row.id)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path} cannot be read: {error}") from error
