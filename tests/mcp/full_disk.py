"""Run in a process whose files cannot grow: asks for a large answer, and prints what arrives."""

import asyncio
import secrets
import sys
from pathlib import Path

from gaby.kernel.clock import SystemClock
from gaby.kernel.metrics import Metrics
from gaby.mcp import InProcessLaunch, McpHost, SpillFolder, ToolCallResult
from gaby.mcp.calls import call
from tests.mcp.ciphers import AesCipher
from tests.mcp.scenes import GOOD
from tests.mcp.servers.good import make_server


async def main(folder: Path) -> None:
    spill = SpillFolder(folder / "spill", AesCipher(), SystemClock())
    host = McpHost(SystemClock(), secrets.token_bytes, Metrics(), spill=spill)
    await host.configure(GOOD, InProcessLaunch(make_server))
    answered = await call(host, GOOD, "big", {"size": 500_000}, repeatable=True)
    await host.aclose()
    assert isinstance(answered, ToolCallResult)
    assert answered.spill_error is not None
    files = [str(path) for path in (folder / "spill").glob("*/*")]
    lines = [
        f"{answered.text[:3]} ... {answered.text[-3:]}",
        str(answered.size),
        str(answered.spilled),
        answered.spill_error.code,
        answered.spill_error.message.partition(": ")[2].partition(".")[0],
        str(files),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
