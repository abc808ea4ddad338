"""MCP servers that others wrote, installed once from the lock file. They need `node` and `npm`."""

import fcntl
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
LOCK_FILE = FOLDER / "package-lock.json"
MARK = FOLDER / "node_modules" / ".installed"


@pytest.fixture(scope="session")
def foreign_servers() -> Path:
    """The folder of the installed packages. Several workers may ask at one time; one installs, the others wait."""
    with (FOLDER / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = LOCK_FILE.read_text()
        if not MARK.exists() or MARK.read_text() != wanted:
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=FOLDER, check=True, capture_output=True)
            MARK.write_text(wanted)
    return FOLDER / "node_modules" / "@modelcontextprotocol"
