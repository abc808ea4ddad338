"""What a call costs through the whole path, beside the bare MCP SDK and a FastMCP proxy to the same server.

Processor time of the client and of every process below it, in the same run, the ways taking turns. The whole path
decides, redacts, and has two rows of the audit log on disk, which neither of the others does.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.support_servers import deciding
from benchmarks.support_servers.callers import WAYS

ROOT = Path(__file__).parent.parent
FASTMCP = ROOT / ".bench" / "fastmcp"
LOCK = ROOT / "requirements" / "fastmcp.lock"
AT_ONCE = (1, 16)
TIMES_SDK = 1.6
TIMES_PROXY = 0.5
DECIDE_MS = 0.7
NAMES = {
    "gaby": "Gaby, the whole path",
    "sdk": "bare MCP SDK",
    "sdk_and_disk": "the same, two rows on disk",
    "fastmcp": "FastMCP proxy",
}
PEERS = ("sdk", "sdk_and_disk", "fastmcp")


@dataclass(frozen=True)
class Cost:
    """Milliseconds of a processor for one call, and how long it took."""

    client: float
    servers: float
    wall: float

    @property
    def both(self) -> float:
        return self.client + self.servers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only the figures, as JSON")
    parser.add_argument("--calls", type=int, default=400, help="calls of each way in a round")
    parser.add_argument("--rounds", type=int, default=7, help="rounds in which the ways take turns")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="a folder on the disk to measure")
    parser.add_argument("--no-proxy", action="store_true", help="leave FastMCP out; nothing is installed then")
    options = parser.parse_args()
    ways = [way for way in WAYS if way != "fastmcp" or not options.no_proxy]
    if not options.no_proxy:
        install_fastmcp()
    with tempfile.TemporaryDirectory(prefix=".gaby-benchmark-", dir=options.folder) as folder:
        costs = measure(Path(folder), ways, options.calls, options.rounds)
    figures = {"calls": _figures(costs), "decision": deciding.measure(options.calls)}
    print(json.dumps(figures) if options.json else _report_text(figures))
    return 0 if all(target["met"] for target in targets(figures)) else 1


def install_fastmcp() -> None:
    """Into an environment of its own: Gaby does not depend on it."""
    done = FASTMCP / "installed"
    if done.exists() and done.read_bytes() == LOCK.read_bytes():
        return
    print(f"Installing FastMCP into {FASTMCP} ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(FASTMCP)], check=True)
    pip = [str(FASTMCP / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", str(LOCK)], check=True, stdout=sys.stderr)
    done.write_bytes(LOCK.read_bytes())


def measure(folder: Path, ways: list[str], calls: int, rounds: int) -> dict[tuple[str, int], list[Cost]]:
    callers = {way: _Caller(way, folder / way) for way in ways}
    costs: dict[tuple[str, int], list[Cost]] = {(way, at_once): [] for at_once in AT_ONCE for way in ways}
    try:
        for caller in callers.values():
            caller.cost(calls, AT_ONCE[-1])
        for _ in range(rounds):
            for at_once in AT_ONCE:
                for way, caller in callers.items():
                    costs[way, at_once].append(caller.cost(calls, at_once))
    finally:
        for caller in callers.values():
            caller.end()
    return costs


class _Caller:
    """A process that calls in one way, and is idle while the others are measured."""

    def __init__(self, way: str, home: Path) -> None:
        home.mkdir()
        module = "benchmarks.support_servers.callers"
        command = [sys.executable, "-m", module, way, str(home), str(FASTMCP / "bin" / "python")]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ
        )

    def cost(self, calls: int, at_once: int) -> Cost:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"calls": calls, "at_once": at_once}) + "\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        return Cost(**{name: spent / calls * 1000 for name, spent in found.items()})

    def end(self) -> None:
        self._process.communicate()


def _figures(costs: dict[tuple[str, int], list[Cost]]) -> list[dict[str, Any]]:
    figures: list[dict[str, Any]] = []
    for (way, at_once), found in costs.items():
        peers = {peer: costs[peer, at_once] for peer in PEERS if (peer, at_once) in costs}
        # Compared round by round, so that a slow moment of the machine hits both.
        times = {
            f"times_{peer}": round(median(a.both / b.both for a, b in zip(found, theirs, strict=True)), 2)
            for peer, theirs in peers.items()
        }
        figures.append(
            {
                "way": way,
                "at_once": at_once,
                "cpu_ms": round(median(cost.both for cost in found), 3),
                "client_cpu_ms": round(median(cost.client for cost in found), 3),
                "server_cpu_ms": round(median(cost.servers for cost in found), 3),
                "wall_ms": round(median(cost.wall for cost in found), 3),
                **times,
            }
        )
    return figures


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for cost in figures["calls"]:
        if cost["way"] == "gaby":
            limits = {"times_sdk": (TIMES_SDK, "x the bare SDK"), "times_fastmcp": (TIMES_PROXY, "x the proxy")}
            found += [
                _target(f"{cost['at_once']} at once", cost[name], limit, unit)
                for name, (limit, unit) in limits.items()
                if name in cost
            ]
    decision = figures["decision"]
    what = f"decide and redact, a call of {decision['bytes']:,} bytes"
    return [*found, _target(what, decision["decide_and_redact_ms"], DECIDE_MS, "ms")]


def _target(what: str, value: float, limit: float, unit: str) -> dict[str, Any]:
    return {"what": what, "value": value, "limit": limit, "unit": unit, "met": value <= limit}


def _report_text(figures: dict[str, Any]) -> str:
    lines = [
        f"{'processor time of a call':26} {'at once':>7} {'all':>8} {'client':>8} {'servers':>8} {'wall':>8}  (ms)"
    ]
    lines += [
        f"{NAMES[cost['way']]:26} {cost['at_once']:7} {cost['cpu_ms']:8.2f} {cost['client_cpu_ms']:8.2f} "
        f"{cost['server_cpu_ms']:8.2f} {cost['wall_ms']:8.2f}"
        for cost in figures["calls"]
    ]
    decision = figures["decision"]
    lines.append(
        f"decide {decision['decide_ms']} ms, with a value from outside {decision['decide_from_outside_ms']} ms; "
        f"redact {decision['redact_ms']} ms"
    )
    lines += [
        f"{target['what']:46} {target['value']:6.2f} {target['unit']:14} target {target['limit']:4} "
        f"{'met' if target['met'] else 'MISSED'}"
        for target in targets(figures)
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
