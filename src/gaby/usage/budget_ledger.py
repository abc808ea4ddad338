"""The stored budget ledger: every call held before, settled after, and found again if its process died."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, select

from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database, ReadSession
from gaby.kernel.database.group_commit import GroupCommit
from gaby.kernel.database.raw_sql import Connection
from gaby.kernel.errors import GabyError, Unavailable
from gaby.kernel.ids import IdFactory, ModelCallId, WorkspaceId
from gaby.kernel.metrics import Metrics
from gaby.llm.budget_ledger import BudgetHold, BudgetSpent, PlannedSpend, Settlement
from gaby.llm.tiers import Tier
from gaby.usage.ledger_entries import LedgerTransaction, effective, keys_of
from gaby.usage.limits import BudgetLimits, Span, UsageCount, begins_task, refusal
from gaby.usage.models import OF_RUN, LlmCall, UsageCounter, UsageLimit

LOST_AFTER = timedelta(minutes=15)
"""No call takes that long; its process is gone."""

_FORGET_RUNS_AFTER = timedelta(days=90)


class BooksUnavailable(Unavailable):
    """The books cannot be written, so no model was asked. Try again shortly; `gaby doctor` says what is wrong."""


@dataclass(frozen=True)
class _Hold:
    hold: BudgetHold


@dataclass(frozen=True)
class _Settle:
    id: ModelCallId
    workspace_id: WorkspaceId
    settled: Settlement
    lost: bool = False


@dataclass(frozen=True)
class _Note:
    hold: BudgetHold
    settled: Settlement


_Entry = _Hold | _Settle | _Note


class StoredBudgetLedger:
    def __init__(self, database: Database, clock: Clock, ids: IdFactory, metrics: Metrics, usual: BudgetLimits) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._metrics = metrics
        self._usual = usual
        self._late: list[tuple[BudgetHold, Settlement]] = []
        self._commits = GroupCommit[_Entry, bool](database, self._write, name="books", unavailable=BooksUnavailable)

    def what_is_wrong(self) -> str | None:
        """As far as the last write could tell."""
        return self._commits.trouble

    async def hold(self, wanted: PlannedSpend) -> BudgetHold:
        hold = BudgetHold(ModelCallId(self._ids.new()), wanted)
        await self._commits.put(_Hold(hold))
        return hold

    async def settle(self, hold: BudgetHold, settled: Settlement) -> None:
        """When the ledger cannot be written just now, it is done later: the answer is paid for and should be used."""
        try:
            fresh = await self._commits.put(_Settle(hold.id, hold.wanted.workspace_id, settled))
        except BooksUnavailable:
            self._late.append((hold, settled))
            return
        if fresh:
            self._count(hold.wanted, settled)

    async def note(self, wanted: PlannedSpend, settled: Settlement) -> None:
        await self._commits.put(_Note(BudgetHold(ModelCallId(self._ids.new()), wanted), settled))

    async def tiers(self, workspace_id: WorkspaceId) -> frozenset[Tier]:
        return (await self.limits(workspace_id)).plan.tiers

    async def limits(self, workspace_id: WorkspaceId) -> BudgetLimits:
        async with self._database.read(workspace_id) as session:
            return await self.limits_in(session)

    async def limits_in(self, session: ReadSession) -> BudgetLimits:
        row = await session.get(UsageLimit, session.workspace_id)
        if row is None:
            return self._usual
        numbers = (row.run_tokens, row.run_nano_usd, row.day_tokens, row.day_nano_usd)
        return effective(self._usual, (row.plan, *numbers, row.month_tokens, row.month_nano_usd))

    async def sweep(self) -> int:
        """Settle calls whose process died in the middle, and forget the counts of runs long ago."""
        late, self._late = self._late, []
        for hold, settled in late:
            await self.settle(hold, settled)
        now = self._clock.now()
        async with self._database.read(AllWorkspaces("calls that nobody settled, of all workspaces")) as session:
            query = select(LlmCall.workspace_id, LlmCall.id).where(
                LlmCall.state == "held", LlmCall.created_at < now - LOST_AFTER
            )
            lost = (await session.execute(query)).all()
        for workspace_id, call_id in lost:
            entry = _Settle(
                ModelCallId(call_id), WorkspaceId(workspace_id), Settlement("unknown", nano_usd=None), lost=True
            )
            await self._commits.put(entry)
        async with self._database.write(AllWorkspaces("counts of runs long ago, of all workspaces")) as session:
            old = UsageCounter.updated_at < now - _FORGET_RUNS_AFTER
            await session.execute(delete(UsageCounter).where(OF_RUN, old))
        return len(lost)

    async def stop(self) -> None:
        await self._commits.stop()

    def _write(self, connection: Connection, entries: Sequence[_Entry]) -> list[bool | GabyError]:
        page = LedgerTransaction(connection, self._database.dialect, self._usual, self._clock.now())
        page.lock(_workspace(entry) for entry in entries)
        results = [self._enter(page, entry) for entry in entries]
        page.close()
        return results

    def _enter(self, page: LedgerTransaction, entry: _Entry) -> bool | GabyError:
        match entry:
            case _Hold(hold=hold):
                return _hold(page, hold) or True
            case _Settle():
                return _settle(page, entry)
            case _Note(hold=hold, settled=settled):
                page.enter(hold, "held")
                page.close_call(hold.wanted.workspace_id, hold.id, settled, settled.state, (0, 0))
                return True

    def _count(self, wanted: PlannedSpend, settled: Settlement) -> None:
        workspace, usage = str(wanted.workspace_id), settled.usage
        for direction, tokens in (
            ("input", usage.input),
            ("output", usage.output),
            ("cache_read", usage.cache_read),
            ("cache_write", usage.cache_write),
        ):
            if tokens:
                self._metrics.llm_tokens.labels(
                    workspace=workspace, model=wanted.model, purpose=wanted.skill, direction=direction
                ).inc(tokens)
        if settled.nano_usd:
            self._metrics.llm_cost_usd.labels(workspace=workspace, model=wanted.model).inc(settled.nano_usd / 1e9)


def _workspace(entry: _Entry) -> WorkspaceId:
    return entry.workspace_id if isinstance(entry, _Settle) else entry.hold.wanted.workspace_id


def _hold(page: LedgerTransaction, hold: BudgetHold) -> BudgetSpent | None:
    wanted = hold.wanted
    keys = keys_of(wanted.workspace_id, wanted.run_id, page.now)
    counts: dict[Span, UsageCount] = {span: page.count(key) for span, key in keys.items()}
    refused = refusal(counts, page.limits(wanted.workspace_id), wanted.tokens, wanted.nano_usd)
    if refused is not None:
        return refused
    begins = begins_task(counts)
    for span, key in keys.items():
        count = counts[span].hold(wanted.tokens, wanted.nano_usd or 0)
        page.put(key, count.begin() if begins else count)
    page.enter(hold, "held")
    return None


def _settle(page: LedgerTransaction, entry: _Settle) -> bool:
    held = page.held(entry.workspace_id, entry.id)
    if held is None:
        return False
    settled = entry.settled
    spent = (settled.usage.counted, settled.nano_usd or 0)
    if settled.state == "unknown":
        # It may have been charged without our hearing of it, so the limits count the most that it can be.
        spent = (max(spent[0], held.tokens), max(spent[1], held.nano_usd))
    for key in keys_of(entry.workspace_id, held.run_id, held.created_at).values():
        page.put(key, page.count(key).settle((held.tokens, held.nano_usd), spent))
    page.close_call(entry.workspace_id, entry.id, settled, "lost" if entry.lost else settled.state, spent)
    return True
