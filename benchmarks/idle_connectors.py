"""What 50 connectors cost while nobody uses them: processor time of Gaby and of their servers, and memory.

All of Gaby runs, with its background work and its health checks as often as they are by default.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.support_servers.scene import Scene, open_scene

TINY = str(Path(__file__).parent / "support_servers" / "tiny.py")
SHARE = 2.0
"""Percent of one core."""
_MEGABYTE = 1024 * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only the figures, as JSON")
    parser.add_argument("--connectors", type=int, default=50, help="how many there are")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long they are left alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=".gaby-benchmark-") as folder:
        figures = asyncio.run(measure(Path(folder), options.connectors, options.seconds))
    print(json.dumps(figures) if options.json else _report_text(figures))
    return 0 if figures["percent_of_a_core"] <= SHARE else 1


async def measure(folder: Path, count: int, seconds: float) -> dict[str, Any]:
    async with open_scene(folder) as scene:
        # One first: it brings the MCP SDK into memory, which is not a price of each.
        await scene.connect("c0", TINY)
        first = psutil.Process().memory_info().rss
        begin = time.perf_counter()
        for number in range(1, count):
            await scene.connect(f"c{number}", TINY)
        started = time.perf_counter() - begin
        own, servers = await _idle(seconds)
        # After the time that counts, since one round may not fall into it.
        check = await _one_check(scene)
        every = scene.gaby.settings.connectors.check_every.total_seconds()
        return {
            "connectors": count,
            "seconds": seconds,
            "started_in_seconds": round(started, 1),
            "gaby_percent": round(own / seconds * 100, 3),
            "servers_percent": round(servers / seconds * 100, 3),
            "check_ms": round(check * 1000, 2),
            "check_every_seconds": every,
            "percent_of_a_core": round((own + servers) / seconds * 100 + check / every * 100, 3),
            "gaby_megabytes_per_connector": round(
                (psutil.Process().memory_info().rss - first) / _MEGABYTE / (count - 1), 2
            ),
            "server_megabytes": round(_private_memory() / _MEGABYTE / count, 2),
        }


async def _idle(seconds: float) -> tuple[float, float]:
    """Processor seconds of Gaby, and of the servers."""
    own, servers = time.process_time(), _server_times()
    await asyncio.sleep(seconds)
    return time.process_time() - own, _server_times() - servers


async def _one_check(scene: Scene) -> float:
    begin = time.process_time()
    statuses = await scene.gaby.host.health_check()
    await scene.gaby.tools.keep_logs()
    spent = time.process_time() - begin
    assert all(status.pid is not None for status in statuses), statuses
    return spent


def _server_times() -> float:
    spent = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return sum(each.user + each.system for each in spent)


def _private_memory() -> float:
    """What would be free without them; the interpreter itself is shared."""
    return sum(child.memory_full_info().uss for child in psutil.Process().children(recursive=True))


def _report_text(figures: dict[str, Any]) -> str:
    verdict = "met" if figures["percent_of_a_core"] <= SHARE else "MISSED"
    return "\n".join(
        [
            f"{figures['connectors']} connectors idle for {figures['seconds']:g} s: "
            f"{figures['percent_of_a_core']} % of a core (target {SHARE} %), {verdict}",
            f"Gaby {figures['gaby_percent']} %, servers {figures['servers_percent']} %, "
            f"a round of checks {figures['check_ms']} ms every {figures['check_every_seconds']:g} s",
            f"memory of each: {figures['gaby_megabytes_per_connector']} MB in Gaby, "
            f"{figures['server_megabytes']} MB in the smallest server there can be",
            f"all started, looked at and accepted in {figures['started_in_seconds']} s",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
