"""What each statement costs the database, in figures that no busy machine changes.

On SQLite these are the instructions of its virtual machine; on Postgres the rows and pages that a plan visits, as
`auto_explain` tells them. Whatever connection runs it, a statement is seen: nothing has to be listed.
"""

import json
import re
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, cast
from unittest.mock import patch

from tests.support.postgres import Postgres

_TICK = 200
_MANY = re.compile(r"\((\?|\$\d+)(, (\?|\$\d+))+\)")
_AUTO_EXPLAIN = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_format": "json",
    "auto_explain.log_parameter_max_length": "0",
}
_PLAN = re.compile(r"LOG:  duration: [\d.]+ ms  plan:\n((?:\t.*\n)+)")


@dataclass
class StatementCosts:
    """The most that each statement cost at one time, by its text."""

    costs: dict[str, int] = field(default_factory=dict[str, int])
    plans: dict[str, str] = field(default_factory=dict[str, str])
    counts_all: set[str] = field(default_factory=set[str])
    """Those that count the rows of a table."""

    def note(self, statement: str, cost: int, plan: str = "") -> None:
        # Lists of values differ in length from one time to the next.
        name = _MANY.sub("(...)", statement)
        if cost >= self.costs.get(name, -1):
            self.costs[name] = cost
            self.plans[name] = plan or self.plans.get(name, "")

    def above(self, usual: "StatementCosts", by: int) -> list[str]:
        """The statements that cost so much more than usual, each with its figures and its plan, the dearest first."""
        return [
            f"{usual.costs.get(name, 0):,} -> {cost:,}: {name}\n{self.plans[name]}"
            for name, cost in sorted(self.costs.items(), key=lambda each: -each[1])
            if cost > usual.costs.get(name, 0) + by
        ]


class _Counting(sqlite3.Connection):
    """Rows may be fetched long after the call, so a statement goes on until the next one begins."""

    seen: StatementCosts

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._statement, self._steps = "", 0
        self.set_progress_handler(self._tick, _TICK)

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(factory or _CountingCursor)

    def begin(self, statement: str) -> None:
        if statement.startswith(("PRAGMA", "BEGIN", "EXPLAIN")):
            self._statement = ""
            return
        known = statement in self.seen.costs
        self._statement, self._steps = statement, 0
        self.seen.note(statement, 0)
        if not known:
            self._explain(statement)

    def _explain(self, statement: str) -> None:
        cursor = super().cursor()
        nothing = [None] * statement.count("?")
        with suppress(sqlite3.Error):
            plan = cursor.execute(f"EXPLAIN QUERY PLAN {statement}", nothing).fetchall()
            self.seen.note(statement, 0, "\n".join(f"    {row[3]}" for row in plan))
            # One instruction, however many rows there are.
            if any(row[1] == "Count" for row in cursor.execute(f"EXPLAIN {statement}", nothing).fetchall()):
                self.seen.counts_all.add(statement)
        cursor.close()

    def _tick(self) -> int:
        if self._statement:
            self._steps += _TICK
            self.seen.note(self._statement, self._steps)
        return 0


class _CountingCursor(sqlite3.Cursor):
    def execute(self, sql: str, parameters: Any = (), /) -> "_CountingCursor":
        cast("_Counting", self.connection).begin(sql)
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> "_CountingCursor":
        cast("_Counting", self.connection).begin(sql)
        return super().executemany(sql, parameters)


@contextmanager
def sqlite_costs() -> Generator[StatementCosts]:
    """Of the statements on all connections that are opened in the meantime."""
    seen = StatementCosts()
    counting = type("Counting", (_Counting,), {"seen": seen})
    connect = sqlite3.connect

    def counted(*args: Any, **options: Any) -> sqlite3.Connection:
        return connect(*args, **options | {"factory": counting})

    with patch.object(sqlite3, "connect", counted):
        yield seen


class PostgresCosts:
    """Of the statements on connections that are opened after this."""

    def __init__(self, server: Postgres, database: str) -> None:
        self._log = server.folder / "log"
        for name, value in _AUTO_EXPLAIN.items():
            server.execute(f"ALTER DATABASE {database} SET {name} = '{value}'")
        self._read = self._log.stat().st_size

    def taken(self) -> StatementCosts:
        """What was run since the last time."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            told = log.read()
        self._read += len(told)
        costs = StatementCosts()
        for match in _PLAN.finditer(told.decode(errors="replace")):
            plan = json.loads(match[1])
            node = plan["Plan"]
            pages = node.get("Shared Hit Blocks", 0) + node.get("Shared Read Blocks", 0)
            costs.note(plan["Query Text"], round(_rows(node)) + pages, _outline(node))
        return costs


def _rows(node: Mapping[str, Any]) -> float:
    """That were looked at in tables, whether or not they were of use."""
    mine = 0.0
    if "Relation Name" in node:
        each = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
        mine = (node["Actual Rows"] + each) * node["Actual Loops"]
    return mine + sum(_rows(inner) for inner in node.get("Plans", ()))


def _outline(node: Mapping[str, Any], depth: int = 1) -> str:
    about = [str(node[key]) for key in ("Relation Name", "Index Name", "Index Cond", "Filter") if key in node]
    line = f"{'    ' * depth}{node['Node Type']} {', '.join(about)}: {node['Actual Rows']} x {node['Actual Loops']}"
    return "\n".join([line, *(_outline(inner, depth + 1) for inner in node.get("Plans", ()))])
