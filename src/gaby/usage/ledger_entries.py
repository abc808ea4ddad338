"""Entering calls in the budget ledger: the statements, inside one transaction, on either engine."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from gaby.kernel.database.engines import Dialect
from gaby.kernel.database.raw_sql import Connection, SqlRunner, digits_of, moment_for
from gaby.kernel.ids import ModelCallId, RunId, WorkspaceId
from gaby.llm.budget_ledger import NO_TASK, BudgetHold, CallState, Settlement
from gaby.usage.limits import SPANS, BudgetLimits, Span, SpendCap, UsageCount
from gaby.usage.plans import PLANS, PlanName

Key = tuple[WorkspaceId, Span, str]

_INSERT_CALL = (
    "INSERT INTO llm_calls (workspace_id, id, run_id, skill, tier, provider, model, state, created_at, hop, "
    "held_tokens, held_nano_usd, prompt_hash, "
    "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, counted_tokens, counted_nano_usd) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0)"
)
_SETTLE_CALL = (
    "UPDATE llm_calls SET state = ?, answered_by = ?, error = ?, input_tokens = ?, output_tokens = ?, "
    "cache_read_tokens = ?, cache_write_tokens = ?, cost_nano_usd = ?, counted_tokens = ?, counted_nano_usd = ?, "
    "milliseconds = ?, settled_at = ? WHERE workspace_id = ? AND id = ?"
)
_PUT_COUNT = (
    "INSERT INTO usage_counters (workspace_id, span, key, used_tokens, held_tokens, used_nano_usd, held_nano_usd, "
    "runs, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace_id, span, key) DO UPDATE SET "
    "used_tokens = excluded.used_tokens, held_tokens = excluded.held_tokens, used_nano_usd = excluded.used_nano_usd, "
    "held_nano_usd = excluded.held_nano_usd, runs = excluded.runs, updated_at = excluded.updated_at"
)
_NUMBERS = "run_tokens, run_nano_usd, day_tokens, day_nano_usd, month_tokens, month_nano_usd"


@dataclass(frozen=True)
class HeldAmount:
    """What a call that is on its way has taken out of the limits."""

    run_id: RunId
    created_at: datetime
    tokens: int
    nano_usd: int


class LedgerTransaction:
    """The ledger as one transaction sees it. What changed is written by `close`."""

    def __init__(self, connection: Connection, dialect: Dialect, usual: BudgetLimits, now: datetime) -> None:
        self._sql = SqlRunner(connection, dialect)
        self._dialect: Dialect = dialect
        self._usual = usual
        self.now = now
        self._counts: dict[Key, UsageCount] = {}
        self._limits: dict[WorkspaceId, BudgetLimits] = {}

    def lock(self, workspaces: Iterable[WorkspaceId]) -> None:
        """On Postgres nobody else enters anything for these workspaces until the transaction ends."""
        if self._dialect == "postgresql":
            for workspace_id in sorted(set(workspaces)):
                number = sha256(f"gaby books {workspace_id}".encode()).digest()[:8]
                self._sql.run("SELECT pg_advisory_xact_lock(?)", int.from_bytes(number, "big", signed=True))

    def limits(self, workspace_id: WorkspaceId) -> BudgetLimits:
        if workspace_id not in self._limits:
            row = self._sql.one(
                f"SELECT plan, {_NUMBERS} FROM usage_limits WHERE workspace_id = ?",  # noqa: S608
                workspace_id.hex,
            )
            self._limits[workspace_id] = effective(self._usual, row)
        return self._limits[workspace_id]

    def count(self, key: Key) -> UsageCount:
        if key not in self._counts:
            row = self._sql.one(
                "SELECT used_tokens, held_tokens, used_nano_usd, held_nano_usd, runs FROM usage_counters "
                "WHERE workspace_id = ? AND span = ? AND key = ?",
                key[0].hex,
                key[1],
                key[2],
            )
            self._counts[key] = UsageCount(*row) if row is not None else UsageCount()
        return self._counts[key]

    def put(self, key: Key, count: UsageCount) -> None:
        self._counts[key] = count

    def enter(self, hold: BudgetHold, state: CallState) -> None:
        wanted = hold.wanted
        self._sql.run(
            _INSERT_CALL,
            wanted.workspace_id.hex,
            hold.id.hex,
            wanted.run_id.hex,
            wanted.skill,
            wanted.tier.value,
            wanted.provider,
            wanted.model,
            state,
            moment_for(self._dialect, self.now),
            wanted.hop,
            wanted.tokens,
            wanted.nano_usd,
            wanted.prompt_hash,
        )

    def held(self, workspace_id: WorkspaceId, call_id: ModelCallId) -> HeldAmount | None:
        """None when it was settled already, or never held."""
        row = self._sql.one(
            "SELECT run_id, created_at, held_tokens, held_nano_usd FROM llm_calls "
            "WHERE workspace_id = ? AND id = ? AND state = 'held'",
            workspace_id.hex,
            call_id.hex,
        )
        if row is None:
            return None
        created = row[1] if isinstance(row[1], datetime) else datetime.fromisoformat(f"{row[1]}+00:00")
        return HeldAmount(RunId(UUID(digits_of(row[0]))), created, row[2], row[3] or 0)

    def close_call(
        self,
        workspace_id: WorkspaceId,
        call_id: ModelCallId,
        settled: Settlement,
        state: CallState,
        spent: tuple[int, int],
    ) -> None:
        usage = settled.usage
        self._sql.run(
            _SETTLE_CALL,
            state,
            (settled.answered_by or "")[:200] or None,
            settled.error,
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
            settled.nano_usd,
            *spent,
            settled.milliseconds,
            moment_for(self._dialect, self.now),
            workspace_id.hex,
            call_id.hex,
        )

    def close(self) -> None:
        now = moment_for(self._dialect, self.now)
        rows: list[tuple[Any, ...]] = [
            (
                workspace_id.hex,
                span,
                key,
                count.used_tokens,
                count.held_tokens,
                count.used_nano_usd,
                count.held_nano_usd,
                count.runs,
                now,
            )
            for (workspace_id, span, key), count in sorted(self._counts.items())
        ]
        self._sql.many(_PUT_COUNT, rows)
        self._sql.close()


def keys_of(workspace_id: WorkspaceId, run_id: RunId, moment: datetime) -> dict[Span, Key]:
    """Which counts a call belongs to. It is settled in those it was held in, whatever the clock says by then."""
    names = (run_id.hex, f"{moment:%Y-%m-%d}", f"{moment:%Y-%m}")
    keys: dict[Span, Key] = {span: (workspace_id, span, name) for span, name in zip(SPANS, names, strict=True)}
    if run_id == NO_TASK:
        del keys["run"]
    return keys


def effective(usual: BudgetLimits, row: tuple[Any, ...] | None) -> BudgetLimits:
    """The workspace's own where it has one, else the installation's."""
    if row is None:
        return usual
    plan, *numbers = row
    caps = [
        SpendCap(cap.tokens if tokens is None else tokens, cap.nano_usd if nano_usd is None else nano_usd)
        for cap, tokens, nano_usd in zip((usual.run, usual.day, usual.month), numbers[0::2], numbers[1::2], strict=True)
    ]
    return BudgetLimits(usual.plan if plan is None else PLANS[PlanName(plan)], *caps)
