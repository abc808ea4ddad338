"""Measures the audit log: durable appends, verification with its memory, and a proof from a million rows."""

import argparse
import asyncio
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

from gaby.audit import Appender, CheckpointTaker, KeyFile, check_inclusion, export_to, inclusion_proof, verify_file
from gaby.audit.canonical import canonical_payload
from gaby.audit.rows import RowDraft
from gaby.audit.source import snapshot
from gaby.audit.writer import AuditWriter
from gaby.kernel.clock import SystemClock
from gaby.kernel.database import Database, open_database
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.migrations import upgrade

WORKSPACE = WorkspaceId(UUID(int=0xACE))
TASKS = 16
ROUNDS = 3
PAYLOAD = canonical_payload({"run": "0190f5d2", "tool": "crm.lookup", "verdict": "allow", "rule": "read-only"})
DRAFT = RowDraft(WORKSPACE, "agent", "planner", "tool.call", PAYLOAD)
TARGETS = {"speedup": 8.0, "rows_per_second": 100_000, "proof_ms": 50.0, "proof_bytes": 2048}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only the figures, as JSON")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each way of appending is measured")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the log that the proof is taken from")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="a folder on the disk to measure")
    parser.add_argument("--verify", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.verify:
        print(json.dumps(_verify_here(options.verify)))
        return
    with tempfile.TemporaryDirectory(prefix=".gaby-benchmark-", dir=options.folder) as folder:
        figures = {
            "appends": measure_appends(Path(folder), options.seconds),
            **measure_reading(Path(folder), options.rows),
        }
    print(json.dumps(figures) if options.json else _report_text(figures))


def measure_appends(folder: Path, seconds: float) -> dict[str, float]:
    """Three ways in turn, several times on the same disk, so that a slow moment of the disk hits all of them."""
    ways: dict[str, Callable[[Path, float], float]] = {
        "group_commit": lambda path, span: asyncio.run(_append(path, span, max_batch=512)),
        "one_row_per_fsync": lambda path, span: asyncio.run(_append(path, span, max_batch=1)),
        "bare_sqlite": _insert_bare,
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(ROUNDS):
        for name, measure in ways.items():
            rates[name].append(measure(folder / f"{name}{turn}.db", seconds / ROUNDS))
    speedups = [many / one for many, one in zip(rates["group_commit"], rates["one_row_per_fsync"], strict=True)]
    return {f"{name}_per_second": round(median(found)) for name, found in rates.items()} | {
        "speedup": round(median(speedups), 2)
    }


async def _append(path: Path, seconds: float, *, max_batch: int) -> float:
    db = _new_database(path)
    clock = SystemClock()
    writer = AuditWriter(db, Appender(clock, IdFactory(clock)), max_batch=max_batch)
    await writer.append(DRAFT)
    begin = time.perf_counter()
    done = 0

    async def task() -> None:
        nonlocal done
        while time.perf_counter() - begin < seconds:
            await writer.append(DRAFT)
            done += 1

    await asyncio.gather(*(task() for _ in range(TASKS)))
    rate = done / (time.perf_counter() - begin)
    await writer.stop()
    await db.close()
    return rate


def _insert_bare(path: Path, seconds: float) -> float:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, content TEXT)")
    begin = time.perf_counter()
    done = 0
    while time.perf_counter() - begin < seconds:
        connection.execute("INSERT INTO rows VALUES (?, ?)", (done, PAYLOAD * 5))
        done += 1
    rate = done / (time.perf_counter() - begin)
    connection.close()
    return rate


def measure_reading(folder: Path, rows: int) -> dict[str, Any]:
    """One log that grows: exported and verified at a twentieth and at half of its length, then asked for proofs."""
    db = _new_database(folder / "log.db")
    filler = _Filler(db, folder)
    verification: dict[str, Any] = {}
    for size in (rows // 20, rows // 2):
        filler.fill(size)
        path = folder / f"{size}.jsonl"
        export_to(path, db, SystemClock())
        verification[str(size)] = _verify_elsewhere(path)
        path.unlink()
    filler.fill(rows)
    return {"verification": verification, "proof": _prove(db, rows)}


class _Filler:
    """Fills a log as fast as it can, with a checkpoint every 256 rows, and no wait for the disk."""

    def __init__(self, db: Database, folder: Path) -> None:
        clock = SystemClock()
        self._appender = Appender(clock, IdFactory(clock))
        self._taker = CheckpointTaker(KeyFile(folder / "keys" / "audit.pem"), self._appender, clock)
        self._connection = db.raw_connection()
        self._connection.execute("PRAGMA synchronous = OFF")
        self._size = 0

    def fill(self, size: int) -> None:
        while self._size < size:
            step = min(256, size - self._size)
            self._connection.execute("BEGIN IMMEDIATE")
            self._appender.append(self._connection, "sqlite", [DRAFT] * step)
            self._taker.take(self._connection, "sqlite", heartbeat=False)
            self._connection.commit()
            self._size += step


def _prove(db: Database, rows: int) -> dict[str, Any]:
    """Each proof from a fresh connection, as a request would ask for it."""
    spans: list[float] = []
    sizes: list[int] = []
    for seq in (0, rows // 3, rows // 2, rows - 300, rows - 1):
        with snapshot(db) as source:
            row = source.some_rows(WORKSPACE, after=seq - 1, limit=1)[0]
        begin = time.perf_counter()
        with snapshot(db) as source:
            proof = inclusion_proof(source, WORKSPACE, row.id)
        spans.append((time.perf_counter() - begin) * 1000)
        sizes.append(len(proof))
        assert check_inclusion(proof) == row
    return {"rows": rows, "slowest_ms": round(max(spans), 2), "largest_bytes": max(sizes)}


def _verify_elsewhere(path: Path) -> dict[str, Any]:
    """In a process of its own, so that its memory can be told."""
    command = [sys.executable, "-m", "benchmarks.audit", "--verify", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    return json.loads(done.stdout)


def _verify_here(path: Path) -> dict[str, Any]:
    begin, begin_busy = time.perf_counter(), time.process_time()
    report = verify_file(path)
    seconds, busy = time.perf_counter() - begin, time.process_time() - begin_busy
    assert report.ok, report.findings[:3]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "rows": report.rows,
        "rows_per_second": round(report.rows / seconds),
        "rows_per_cpu_second": round(report.rows / busy),
        "peak_megabytes": round(peak, 1),
    }


def _new_database(path: Path) -> Database:
    db = open_database(f"sqlite:///{path}")
    upgrade(db)
    return db


def _report_text(figures: dict[str, Any]) -> str:
    appends, proof = figures["appends"], figures["proof"]
    lines = [
        f"appends    {appends['group_commit_per_second']:,} a second by {TASKS} tasks, "
        f"{appends['one_row_per_fsync_per_second']:,} with one row per fsync: {appends['speedup']} times "
        f"(target {TARGETS['speedup']}); bare SQLite {appends['bare_sqlite_per_second']:,}"
    ]
    lines += [
        f"verify     {each['rows']:,} rows at {each['rows_per_second']:,} a second "
        f"(target {TARGETS['rows_per_second']:,}), peak {each['peak_megabytes']} MB"
        for each in figures["verification"].values()
    ]
    lines.append(
        f"proof      one row of {proof['rows']:,}: {proof['slowest_ms']} ms (target {TARGETS['proof_ms']}), "
        f"{proof['largest_bytes']} bytes (target {TARGETS['proof_bytes']})"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
