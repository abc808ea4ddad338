"""How long `gaby serve` takes until it is ready, and its memory then, beside a bare FastAPI application.

Aims: ready within 2.5 s and under 120 MB, also at the very first start, which makes the database and the keys.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import httpx2
import psutil

READY_SECONDS = 2.5
MEGABYTES = 120

_BARE = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/readyz")
async def readyz() -> dict[str, str]:
    return {"status": "ok"}
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="how often each is started")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first = [_gaby(Path(folder) / f"home-{run}") for run in range(options.runs)]
        later = [_gaby(Path(folder) / "home-0") for _ in range(options.runs)]
    bare = [_bare() for _ in range(options.runs)]
    figures = {"first start": _middle(first), "later start": _middle(later), "bare FastAPI": _middle(bare)}
    if options.json:
        print(json.dumps({name: {"seconds": s, "megabytes": m} for name, (s, m) in figures.items()}))
    else:
        for name, (seconds, megabytes) in figures.items():
            times, weight = seconds / figures["bare FastAPI"][0], megabytes / figures["bare FastAPI"][1]
            print(
                f"{name:13} ready in {seconds:5.2f} s ({times:4.1f} x bare), {megabytes:6.1f} MB ({weight:3.1f} x bare)"
            )
    slowest, heaviest = max(s for s, _ in figures.values()), max(m for _, m in figures.values())
    return 0 if slowest <= READY_SECONDS and heaviest <= MEGABYTES else 1


def _gaby(home: Path) -> tuple[float, float]:
    command = [sys.executable, "-m", "gaby", "serve", "--port", "0"]
    started = time.monotonic()
    log = home.with_suffix(".log")
    with log.open("w") as file:
        environment = {**os.environ, "GABY_HOME": str(home)}
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file, cwd=home.parent)
    return _measure(process, started, lambda: _address(log))


def _address(log: Path) -> str | None:
    match = re.search(r"Gaby listens on (\S+)", log.read_text())
    return match[1] if match else None


def _bare() -> tuple[float, float]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    started = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", _BARE, str(port)])
    return _measure(process, started, lambda: f"http://127.0.0.1:{port}")


def _measure(
    process: "subprocess.Popen[bytes]", started: float, address: Callable[[], str | None]
) -> tuple[float, float]:
    try:
        while time.monotonic() - started < 60:
            url = address()
            if url is not None and _is_ready(url):
                ready = time.monotonic() - started
                return ready, psutil.Process(process.pid).memory_info().rss / 2**20
            time.sleep(0.01)
        raise TimeoutError("it never became ready")
    finally:
        process.terminate()
        process.wait(timeout=30)


def _is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/readyz", timeout=2).status_code == 200
    except httpx2.HTTPError:
        return False


def _middle(runs: list[tuple[float, float]]) -> tuple[float, float]:
    return median(seconds for seconds, _ in runs), median(megabytes for _, megabytes in runs)


if __name__ == "__main__":
    sys.exit(main())
