"""How long commands take until they answer, beside a Python that does nothing and one that only loads SQLAlchemy.

Aim: every command that reads answers within half a second, on a machine that does nothing else. CPU seconds are shown
too, since they say the same on a busy one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

SECONDS = 0.5

_PYTHON = [sys.executable, "-c", "pass"]
_SQLALCHEMY = [sys.executable, "-c", "import sqlalchemy.orm, sqlalchemy.ext.asyncio, aiosqlite"]
_GABY = [str(Path(sys.executable).with_name("gaby"))]
_COMMANDS = (
    ("--help",),
    ("ticket", "list"),
    ("ticket", "show", "T-1"),
    ("runs", "list"),
    ("runs", "show", "T-1"),
    ("approvals", "list"),
    ("workspace", "list"),
    ("desk", "list"),
    ("connector", "list"),
    ("knowledge", "list"),
    ("model", "list"),
    ("key", "list"),
)
_TAB = {"_GABY_COMPLETE": "complete_bash", "COMP_WORDS": "gaby ticket show T", "COMP_CWORD": "3"}


class Cost(NamedTuple):
    seconds: float
    cpu: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="how often each is started; the best counts")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "GABY_HOME": str(Path(home) / "home")}
        subprocess.run([*_GABY, "ticket", "add", "It is broken", "Help."], env=environment, check=True)
        costs = {
            "python": _cost(_PYTHON, environment, options.runs),
            "import sqlalchemy": _cost(_SQLALCHEMY, environment, options.runs),
            **{" ".join(each): _cost([*_GABY, *each], environment, options.runs) for each in _COMMANDS},
            "TAB": _cost(_GABY, {**environment, **_TAB}, options.runs),
        }
    if options.json:
        print(json.dumps({name: cost._asdict() for name, cost in costs.items()}))
    else:
        for name, cost in costs.items():
            times = cost.cpu / costs["python"].cpu
            print(f"{name:18} {cost.seconds:6.3f} s, {cost.cpu:6.3f} s of CPU, {times:5.1f} x bare Python")
    return 0 if max(cost.seconds for cost in costs.values()) <= SECONDS else 1


def _cost(command: list[str], environment: dict[str, str], runs: int) -> Cost:
    costs = [_once(command, environment) for _ in range(runs)]
    return Cost(min(cost.seconds for cost in costs), min(cost.cpu for cost in costs))


def _once(command: list[str], environment: dict[str, str]) -> Cost:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(time.monotonic() - started, cpu)


if __name__ == "__main__":
    sys.exit(main())
