"""`gaby audit`: check the log, prove a row, export, follow, rotate the signing key."""

import asyncio
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.markup import escape

from gaby.app import Gaby
from gaby.audit import (
    AuditRow,
    CosignatureFile,
    CursorFile,
    ExternalEvidence,
    KeyFile,
    Malformed,
    PinFile,
    ProofRejected,
    Rotation,
    VerificationReport,
    VerificationTargets,
    WebhookSink,
    check_consistency,
    check_inclusion,
    consistency_proof,
    export_to,
    follow,
    inclusion_proof,
    json_line,
    parse_witnesses,
    snapshot,
    syslog_line,
    verify_file,
    verify_live,
)
from gaby.audit.export import export_lines
from gaby.audit.key_pins import KeyPins, read_pins
from gaby.audit.rows import timestamp
from gaby.audit.tail import START, rows_after
from gaby.audit.witness_client import WitnessAddress
from gaby.cli import audit_keys, witness
from gaby.cli.console import SafeConsole
from gaby.cli.output import AsJson, echo, print_json
from gaby.cli.progress import busy
from gaby.cli.runtime import choose_workspace, operator, run
from gaby.cli.witness_queries import ask_all, origin_in_database, origin_in_export, witnesses_to_ask
from gaby.cli.workspace_option import InWorkspace
from gaby.kernel.clock import SystemClock
from gaby.kernel.errors import BadRequest, GabyError, NotFound, Unavailable
from gaby.kernel.ids import SYSTEM, AuditRowId, WorkspaceId

app = typer.Typer(help="Check the log, prove a row, export, follow.", no_args_is_help=True)

_PROOF_AT_MOST = 16 * 1024

app.command("witness")(witness.serve_witness)
app.command("keys")(audit_keys.keys)
app.command("trust")(audit_keys.trust)
app.command("restart-anchors")(audit_keys.restart_anchors)
app.command("rebuild-tree")(audit_keys.rebuild_tree)


class LogDamaged(GabyError):
    """The audit log does not verify. The findings above say where; keep the database and the anchors as they are."""


class WitnessesNotAsked(Unavailable):
    """The log verifies, but not every witness could be asked, so an old copy of everything together might not be
    noticed. Ask again when the witness can be reached."""


class TailFormat(StrEnum):
    JSONL = "jsonl"
    SYSLOG = "syslog"


@app.command()
def verify(
    export: Annotated[Path | None, typer.Argument(help="An export or a proof; without it, the database.")] = None,
    anchors: Annotated[Path | None, typer.Option(help="Checkpoints kept elsewhere, to notice an old backup.")] = None,
    trusted: Annotated[str | None, typer.Option(help="Id or public key that must have signed.")] = None,
    pins: Annotated[Path | None, typer.Option(help="Pinned keys, as `gaby audit keys` prints them.")] = None,
    witness_url: Annotated[
        list[str] | None, typer.Option("--witness", help="Address of a witness to ask; repeat for more.")
    ] = None,
    witness_key: Annotated[
        list[str] | None, typer.Option(help="Its key, in the same order, if it is not in the settings.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check every row, checkpoint and link. With a file it needs no server, no key and no database."""
    if export is not None and (proof := _as_proof(export)) is not None:
        _verify_proof(proof, trusted, as_json=as_json)
        return
    given = read_pins(pins) if pins is not None else None
    asked = witnesses_to_ask(witness_url or [], witness_key or [])
    if export is not None:
        answers = asyncio.run(ask_all(asked, origin_in_export(export, given)))
        expected = VerificationTargets(trusted, given, answers.seen, timestamp(SystemClock().now()))
        with busy("Checking every row"):
            report = verify_file(export, anchors=anchors, expected=expected)
        answers.add_to(report)
    else:
        with busy("Checking every row"):
            report = run(lambda gaby: _verify_live(gaby, anchors, trusted, given, asked), fresh=False)
    print_report(report, as_json=as_json)
    if not report.ok:
        raise LogDamaged
    if report.not_asked:
        raise WitnessesNotAsked


@app.command()
def prove(
    row: Annotated[str | None, typer.Argument(help="The id of a row.")] = None,
    first: Annotated[int | None, typer.Option("--from", help="Instead of a row: an older size of the log.")] = None,
    second: Annotated[int | None, typer.Option("--to", help="With --from: the newer size.")] = None,
    workspace: InWorkspace = None,
    system: Annotated[bool, typer.Option(help="The installation's own log.")] = False,
) -> None:
    """Print a proof that a row is in the signed log, or that an older log is the beginning of a newer one."""

    async def build_proof(gaby: Gaby) -> bytes:
        workspace_id = await _log_of(gaby, workspace, system=system)
        with snapshot(gaby.database) as source:
            if first is not None and second is not None:
                return consistency_proof(source, workspace_id, first, second)
            if row is None:
                raise BadRequest("Give a row's id, or two sizes with --from and --to.")
            return inclusion_proof(source, workspace_id, _row_id(row))

    echo(run(build_proof, fresh=False).decode())


@app.command("export")
def export_command(
    form: Annotated[
        TailFormat, typer.Option("--format", help="`jsonl` can be verified; `syslog` is for collectors.")
    ] = TailFormat.JSONL,
    follow_on: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new rows until stopped.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new file instead of standard output.")
    ] = None,
    webhook: Annotated[str | None, typer.Option(help="With --follow: post rows as JSON lines to this URL.")] = None,
    cursor: Annotated[Path | None, typer.Option(help="With --follow: remember here how far it got.")] = None,
    workspace: InWorkspace = None,
    all_logs: Annotated[bool, typer.Option("--all", help="Every workspace and the installation's own log.")] = False,
) -> None:
    """Write the log out. Each row is delivered at least once; its id tells repetitions apart."""
    if webhook and not (follow_on and cursor):
        raise BadRequest("--webhook goes with --follow and --cursor FILE, which remembers how far it got.")
    if output is not None and (follow_on or form is TailFormat.SYSLOG):
        raise BadRequest("--output is for an export that can be verified. Redirect standard output for the rest.")
    if cursor is not None and not follow_on:
        raise BadRequest("--cursor goes with --follow.")

    async def write_export(gaby: Gaby) -> None:
        only = None if all_logs else await _log_of(gaby, workspace, system=False)
        if webhook and cursor:
            await WebhookSink(webhook, gaby.http, CursorFile(cursor)).run(gaby.database, only=only)
        elif follow_on:
            await _follow(gaby, only, _writer(form), CursorFile(cursor) if cursor else None)
        elif form is TailFormat.SYSLOG:
            await asyncio.to_thread(_dump, gaby, only, _writer(form))
        else:
            await asyncio.to_thread(_export, gaby, only, output)

    try:
        run(write_export, fresh=False)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


@app.command()
def checkpoint() -> None:
    """Sign the log as it stands now. The server does this by itself."""

    async def sign_checkpoint(gaby: Gaby) -> int:
        signed = await gaby.checkpointer.checkpoint()
        await gaby.checkpointer.send_to_witnesses()
        return len(signed.checkpoints)

    echo(f"{run(sign_checkpoint, fresh=False)} checkpoints signed.", err=True)


@app.command("rotate-key")
def rotate_key() -> None:
    """Let a new signing key take over. Both keys sign the handing over, and the log records it."""

    async def rotate_signing_key(gaby: Gaby) -> str:
        if not isinstance(gaby.audit_key, KeyFile):
            raise BadRequest("The signing key comes from GABY_AUDIT_SIGNING_KEY and cannot be rotated from here.")
        await Rotation(gaby.database, gaby.audit_key, gaby.appender, gaby.clock).run(operator())
        with snapshot(gaby.database) as source:
            return source.keys()[-1].key_id

    key_id = run(rotate_signing_key, fresh=False)
    echo(f"Checkpoints are now signed by {key_id}. Write the id down where you keep such things.")


async def _verify_live(
    gaby: Gaby, anchors: Path | None, trusted: str | None, given: KeyPins | None, asked: list[WitnessAddress]
) -> VerificationReport:
    kept = gaby.settings.anchor_path
    file = PinFile(kept)
    with suppress(Malformed):  # A damaged file becomes a finding, and names nothing.
        given = given or file.load()
    origin = await asyncio.to_thread(origin_in_database, gaby.database, given)
    answers = await ask_all(asked, origin)
    outside = ExternalEvidence(
        pins=file,
        given_pins=given,
        cosignatures=CosignatureFile(kept),
        witnesses=[address.key for address in [*parse_witnesses(gaby.settings.audit.witnesses), *asked]],
        witnessed=answers.seen,
    )
    report = await verify_live(gaby.database, gaby.clock, anchors=anchors or kept, trusted=trusted, outside=outside)
    answers.add_to(report)
    return report


def _as_proof(path: Path) -> bytes | None:
    """The file's bytes if it looks like a proof, which is one small JSON object on one line."""
    try:
        with path.open("rb") as file:
            start = file.read(_PROOF_AT_MOST + 1)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}.") from error
    is_one_line = b"\n" not in start.strip() and len(start) <= _PROOF_AT_MOST
    return start if is_one_line and b'"path"' in start else None


def _verify_proof(proof: bytes, trusted: str | None, *, as_json: bool) -> None:
    try:
        row = check_inclusion(proof, trusted=trusted)
        statement = f"Row {row.id} ({row.event}, {row.ts}) is in the signed log."
    except ProofRejected:
        if b'"second"' not in proof:
            raise
        older, newer = check_consistency(proof, trusted=trusted)
        statement = f"The log of {older.size} rows is the beginning of the log of {newer.size} rows."
    print_json({"ok": True, "proves": statement}) if as_json else echo(statement)


def print_report(report: VerificationReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.as_dict())
        return
    console = SafeConsole(highlight=False)
    for finding in report.findings:
        console.print(f"[red]{finding.kind.value}[/red] {escape(finding.text)}")
    for text in report.not_asked:
        console.print(f"[yellow]{escape(text)}[/yellow]")
    if report.agreeing:
        agree = "1 witness agrees" if len(report.agreeing) == 1 else f"{len(report.agreeing)} witnesses agree"
        console.print(f"[green]{agree}.[/green]")
    counted = f"{report.rows:,} rows, {report.checkpoints:,} checkpoints, {report.anchors:,} anchors"
    if report.ok:
        unsigned = f", {report.unsigned_rows} rows newer than the last checkpoint" if report.unsigned_rows else ""
        console.print(f"[green]The log is whole.[/green] {counted}{unsigned}.")
        console.print(f"Signed by {', '.join(report.key_ids) or 'nobody yet'}.")
    else:
        word = "finding" if report.finding_count == 1 else "findings"
        console.print(f"[red]{report.finding_count} {word}[/red] in {counted}.")


def _row_id(text: str) -> AuditRowId:
    try:
        return AuditRowId(UUID(text))
    except ValueError:
        raise BadRequest("That is not a row's id. `gaby audit export` shows the ids.") from None


async def _log_of(gaby: Gaby, slug: str | None, *, system: bool) -> WorkspaceId:
    if system:
        return SYSTEM
    async with gaby.database.read(SYSTEM) as session:
        return WorkspaceId((await choose_workspace(gaby, session, slug)).id)


def _writer(form: TailFormat) -> Callable[[AuditRow], bytes]:
    host = socket.gethostname()
    return json_line if form is TailFormat.JSONL else lambda row: syslog_line(row, host=host).encode() + b"\n"


def _export(gaby: Gaby, only: WorkspaceId | None, output: Path | None) -> None:
    if output is None:
        with snapshot(gaby.database) as source:
            sys.stdout.buffer.writelines(export_lines(source, created=timestamp(gaby.clock.now()), only=only))
            sys.stdout.buffer.flush()
        return
    try:
        export_to(output, gaby.database, gaby.clock, only=only)
    except OSError as error:
        raise BadRequest(f"{output} cannot be written: {error.strerror}. Name a new file.") from error


def _dump(gaby: Gaby, only: WorkspaceId | None, write: Callable[[AuditRow], bytes]) -> None:
    cursor = START
    while rows := rows_after(gaby.database, cursor, only):
        sys.stdout.buffer.writelines(map(write, rows))
        cursor = cursor.after(rows)
    sys.stdout.buffer.flush()


async def _follow(
    gaby: Gaby, only: WorkspaceId | None, write: Callable[[AuditRow], bytes], kept: CursorFile | None
) -> None:
    async for rows, cursor in follow(gaby.database, kept.load() if kept else START, only=only):
        sys.stdout.buffer.writelines(map(write, rows))
        sys.stdout.buffer.flush()
        if kept is not None:
            kept.save(cursor)
