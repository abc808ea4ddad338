"""`python -m tests.chaos`: disturb the product for as long as you like, and see whether anything is lost or doubled."""

import argparse
import json
import secrets
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from tests.chaos.product import Engine, Outside, running_product
from tests.chaos.run import ChaosRun, Report

_ROUND = 600.0
"""Seconds for which one installation is disturbed, at most; then the next one begins, with the next seed."""


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    engines: Sequence[Engine] = get_args(Engine) if given.engine == "both" else (given.engine,)
    seed: int = given.seed if given.seed is not None else secrets.randbelow(1_000_000)
    reports: list[Report] = []
    left: float = given.seconds
    while left > 0:
        seconds = min(left, _ROUND)
        for engine in engines:
            _tell(f"{engine}: seed {seed}, {seconds:.0f} s ...", quiet=given.json)
            reports.append(_run(engine, seed, seconds / len(engines), given.bug, given.keep))
            for line in reports[-1].lines():
                _tell(line, quiet=given.json)
        left, seed = left - seconds, seed + 1
    if given.json:
        sys.stdout.write(json.dumps([report.as_json() for report in reports], indent=2) + "\n")
    return 1 if any(report.broken for report in reports) else 0


def _run(engine: Engine, seed: int, seconds: float, bug: str | None, keep: Path | None) -> Report:
    outside = Outside()
    try:
        folder = Path(tempfile.mkdtemp(prefix="gaby-chaos-", dir=keep))
        with running_product(engine, folder, outside, bug=bug) as product:
            report = ChaosRun(product, seed, seconds).run()
    finally:
        outside.close()
    if keep is None and not report.broken:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        report.folder = str(folder)
    return report


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--engine", choices=[*get_args(Engine), "both"], default="both")
    parser.add_argument("--seconds", type=float, default=120.0, help="of disturbance, all engines together")
    parser.add_argument("--seed", type=int, help="the same seed makes the same choices; without it one is chosen")
    parser.add_argument("--bug", help="plant one of tests/chaos/bugs.py")
    parser.add_argument("--keep", type=Path, help="a folder in which logs and databases are kept")
    parser.add_argument("--json", action="store_true", help="print the reports as JSON")
    return parser


def _tell(line: str, *, quiet: bool) -> None:
    (sys.stderr if quiet else sys.stdout).write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
