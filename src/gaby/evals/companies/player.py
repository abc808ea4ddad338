"""Plays a company's tickets through the product as it is composed for users, each in a workspace of its own."""

import asyncio
import json
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gaby.agent.models import Investigation
from gaby.agent.run_loader import load
from gaby.evals.companies.company import CallPattern, CompanyTicket, EvalCompany
from gaby.evals.companies.grades import ObservedChange, TicketOutcome, right_by_doing_nothing, score
from gaby.evals.companies.results import CompanyCallOut, CompanyResult, TicketResult
from gaby.evals.drivers import investigate
from gaby.evals.environment import EvalEnvironment
from gaby.evals.suite_runner import asked_model
from gaby.kernel.actors import Actor
from gaby.kernel.ids import ApprovalId, TicketId
from gaby.knowledge.new_source import NewSource
from gaby.mind.tool_names import short_name
from gaby.safety import AccessRules, Scopes
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tools.approvals import ApprovalDecision
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.launches import CommandSpec
from gaby.tools.manifests import parse_manifest

_REPLY = "gaby.reply"
_REFUSAL = "Not for this ticket."
TicketResultCallback = Callable[[TicketResult], None]


@dataclass
class _TicketWorkspace:
    """The workspace of one ticket, its connected server, and what a person there was asked."""

    stage: EvalEnvironment
    actor: Actor
    company: EvalCompany
    state: Path
    tools: tuple[str, ...] = ()
    asked: list[ObservedChange] = field(default_factory=list[ObservedChange])
    drafts: int = 0

    def changes(self) -> tuple[ObservedChange, ...]:
        """From the journal that the company's own server keeps, not from what Gaby says of itself."""
        journal = self.state.with_name(f"{self.state.name}.calls.jsonl")
        if not journal.exists():
            return ()
        calls = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
        return tuple(ObservedChange(each["tool"], each["args"]) for each in calls if each["write"])


async def play_company(
    stage: EvalEnvironment,
    company: EvalCompany,
    *,
    runbooks: bool = True,
    at_once: int = 2,
    report: TicketResultCallback | None = None,
) -> CompanyResult:
    limit = asyncio.Semaphore(at_once)

    async def play(ticket: CompanyTicket) -> TicketResult:
        async with limit, _set_scene(stage, company, ticket, runbooks=runbooks) as scene:
            result = await _play(scene, ticket)
        if report is not None:
            report(result)
        return result

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(play(ticket)) for ticket in company.tickets]
    return CompanyResult(
        company=company.folder.name,
        model=await asked_model(stage),
        runbooks=runbooks,
        right_by_doing_nothing=right_by_doing_nothing(company),
        tickets=tuple(task.result() for task in tasks),
    )


@asynccontextmanager
async def _set_scene(
    stage: EvalEnvironment, company: EvalCompany, ticket: CompanyTicket, *, runbooks: bool
) -> AsyncGenerator[_TicketWorkspace]:
    actor = await stage.workspace(f"{company.folder.name} {ticket.id}")
    folder = stage.home / "worlds" / str(actor.workspace_id)
    folder.mkdir(parents=True)
    scene = _TicketWorkspace(stage, actor, company, folder / "state")
    await _connect(scene)
    await _read_pages(scene, folder, runbooks=runbooks)
    try:
        yield scene
    finally:
        async with stage.gaby.database.write(actor.workspace_id) as session:
            await stage.gaby.tools.connectors.remove(session, actor, company.about.connector)


async def _connect(scene: _TicketWorkspace) -> None:
    """As `gaby connector add` and `gaby connector set` do."""
    about, tools, actor = scene.company.about, scene.stage.gaby.tools, scene.actor
    environment = {about.state_variable: str(scene.state)}
    if about.now_variable is not None:
        environment[about.now_variable] = scene.stage.clock.now().isoformat()
    way = CommandSpec(command=sys.executable, args=(str(scene.company.folder / "server.py"),), env=environment)
    manifest = parse_manifest((scene.company.folder / "manifest.yaml").read_text(encoding="utf-8"))
    async with scene.stage.gaby.database.write(actor.workspace_id) as session:
        await tools.connectors.add(session, actor, NewConnector(about.connector, "command", way, manifest=manifest))
    shown = await tools.inspect(actor, about.connector)
    scene.tools = tuple(each.name for each in shown.tools)
    scopes = Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=about.allow_write))
    async with scene.stage.gaby.database.write(actor.workspace_id) as session:
        await tools.connectors.accept(session, actor, about.connector, shown.fingerprint)
        await tools.connectors.limit(session, actor, about.connector, PolicyChange(about.autonomy, scopes))


async def _read_pages(scene: _TicketWorkspace, folder: Path, *, runbooks: bool) -> None:
    """Internal pages are a source of their own, since whoever adds a folder says who may read it."""
    company = scene.company
    await asyncio.to_thread(_split_pages, company, folder)
    await _add_source(scene, NewSource("docs", "folder", str(folder / "docs"), audience="public"))
    if company.about.internal_pages:
        await _add_source(scene, NewSource("internal", "folder", str(folder / "internal"), audience="staff"))
    if runbooks and company.runbooks.is_dir():
        await _add_source(scene, NewSource("runbooks", "folder", str(company.runbooks), audience="staff"))


def _split_pages(company: EvalCompany, folder: Path) -> None:
    internal = set(company.about.internal_pages)
    for page in sorted(company.pages.rglob("*")):
        if page.is_file():
            name = page.relative_to(company.pages)
            place = folder / ("internal" if str(name) in internal else "docs") / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, place)


async def _add_source(scene: _TicketWorkspace, new: NewSource) -> None:
    components = scene.stage.gaby.knowledge.components
    async with scene.stage.gaby.database.write(scene.actor.workspace_id) as session:
        source = await components.sources.add(session, scene.actor, new)
    await components.syncer.sync(scene.actor, source.id)


async def _play(scene: _TicketWorkspace, ticket: CompanyTicket) -> TicketResult:
    gaby, began = scene.stage.gaby, time.perf_counter()
    first, *later = ticket.texts
    incoming = IncomingTicket(
        external_id=f"eval-{ticket.id}",
        title=ticket.title,
        body=first,
        requester_email=ticket.requester_email,
        requester_verified=ticket.requester_verified,
    )
    async with gaby.database.write(scene.actor.workspace_id) as session:
        ticket_id = (await gaby.tickets.add(session, scene.actor, incoming)).ticket_id

    async def answered() -> bool:
        return await _answer_approvals(scene, ticket)

    runs = [await investigate(scene.stage, scene.actor, ticket_id, answered)]
    for text in later:
        message = await gaby.tickets.prepare_message(text, "requester")
        async with gaby.database.write(scene.actor.workspace_id) as session:
            row = await gaby.tickets.intake.get(session, ticket_id)
            verified = ticket.requester_verified
            await gaby.tickets.write_on(session, scene.actor, row, message, "requester", verified=verified)
        runs.append(await investigate(scene.stage, scene.actor, ticket_id, answered))
    return await _result(scene, ticket, ticket_id, runs, time.perf_counter() - began)


async def _answer_approvals(scene: _TicketWorkspace, ticket: CompanyTicket) -> bool:
    """A person agrees to what the ticket expects and to every reply; what a reply gives away is scored afterwards."""
    gaby = scene.stage.gaby
    async with gaby.database.read(scene.actor.workspace_id) as session:
        waiting = [
            (each.id, each.connector, each.tool, (await gaby.tools.approvals.call_of(session, each)).arguments)
            for each in await gaby.tools.approvals.list(session)
        ]
    for approval_id, connector, tool, arguments in waiting:
        is_reply = f"{connector}.{short_name(tool)}" == _REPLY
        call = ObservedChange(short_name(tool), arguments)
        agreed = is_reply or any(want.fits(call.tool, call.args) for want in _wanted(ticket))
        if is_reply:
            scene.drafts += 1
        else:
            scene.asked.append(ObservedChange(call.tool, call.args, approved=agreed))
        answer = ApprovalDecision("approve") if agreed else ApprovalDecision("refuse", _REFUSAL)
        async with gaby.database.write(scene.actor.workspace_id) as session:
            await gaby.tools.decide_approval(session, scene.actor, ApprovalId(approval_id), answer)
    return bool(waiting)


def _wanted(ticket: CompanyTicket) -> Sequence[CallPattern]:
    return (*ticket.expect.must_ask, *ticket.expect.must_do, *ticket.expect.may_do)


async def _result(
    scene: _TicketWorkspace,
    ticket: CompanyTicket,
    ticket_id: TicketId,
    runs: Sequence[Investigation | None],
    seconds: float,
) -> TicketResult:
    gaby = scene.stage.gaby
    known = {run.id: run for run in runs if run is not None}
    # A last message that only says thanks is rightly put aside; what counts is the run before it.
    telling = [run for run in known.values() if run.verdict != "skipped"] or list(known.values())
    async with gaby.database.read(scene.actor.workspace_id) as session:
        row = await gaby.tickets.intake.get(session, ticket_id)
        written = await gaby.tickets.intake.written(session, row)
        tokens = sum([(await load(session, gaby.vault, run)).memory.tokens for run in known.values()])
    said = [each for each in written.messages if each.author == "gaby"]
    outcome = TicketOutcome(
        verdict=(telling[-1].verdict or telling[-1].state) if telling else row.status,
        public=tuple(each.body for each in said if not each.private),
        private=tuple(each.body for each in said if each.private),
        changes=scene.changes(),
        asked=tuple(scene.asked),
    )
    scored = score(scene.company, ticket, outcome, scene.tools)
    return TicketResult(
        id=ticket.id,
        kind=ticket.kind,
        grade=scored.grade,
        notes=scored.notes,
        verdict=outcome.verdict,
        reason=(telling[-1].reason or "") if telling else "",
        shows_ids=scored.shows_ids,
        drafts=scene.drafts,
        public=outcome.public,
        private=outcome.private,
        changes=_out(outcome.changes),
        asked=_out(outcome.asked),
        seconds=round(seconds, 2),
        tokens=tokens,
    )


def _out(calls: Sequence[ObservedChange]) -> tuple[CompanyCallOut, ...]:
    return tuple(CompanyCallOut(tool=each.tool, args=each.args, approved=each.approved) for each in calls)
