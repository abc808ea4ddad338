"""A system with a limit of its own: it turns calls away as often as a file says, and notes what it did."""

import os
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, Field

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import ToolError
from gaby_connectors.sdk.manifest import ErrorKind, ResultLabel, ToolManifest
from gaby_connectors.sdk.serve import main
from gaby_connectors.sdk.tool import WriteCall


class BusyConfig(ConnectorConfig):
    prefix: ClassVar[str] = "DESK_"
    folder: str = Field(description="Where effects are written.")


class Busy(Backend):
    config: BusyConfig

    async def check(self) -> str:
        return "It is busy."

    def note(self, line: str) -> None:
        with (Path(self.config.folder) / "effects").open("a") as file:
            file.write(line + "\n")

    def turn_away(self) -> None:
        """`KIND TIMES SECONDS` in the file `limit`, or nothing."""
        file = Path(self.config.folder) / "limit"
        if not file.exists():
            return
        kind, times, seconds = file.read_text().split()
        if int(times) == 0:
            return
        file.write_text(f"{kind} {int(times) - 1} {seconds}")
        if kind == "crash":
            os._exit(1)
        outcome = "unknown" if kind == "unknown" else "nothing"
        said = ErrorKind.TRANSIENT if kind == "unknown" else ErrorKind(kind)
        wait = None if seconds == "-" else float(seconds)
        raise ToolError(said, "Not now, says acc-1001.", retry_after=wait, outcome=outcome)


class Told(BaseModel):
    told: str


connector = Connector("busy", version="1.0.0", instructions="For tests.", config=BusyConfig, backend=Busy)


@connector.tool(ToolManifest(scope="read", path="look", cache=False, results={"told": ResultLabel.SYSTEM}))
async def look(busy: Busy) -> Told:
    """Look."""
    busy.turn_away()
    return Told(told="looked")


@connector.tool(ToolManifest(scope="write", path="pay", steering=("account_id",), dangerous=False))
async def pay(busy: Busy, account_id: str, call: WriteCall) -> Told:
    """Pay once."""
    busy.turn_away()
    busy.note(f"paid {account_id}")
    return Told(told=f"paid {account_id}")


if __name__ == "__main__":
    main(connector)
