"""A till that pays, and a board that announces: with defaults, harmless values and words of their own."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.manifest import ToolManifest
from gaby_connectors.sdk.serve import main
from gaby_connectors.sdk.tool import WriteCall


class TillConfig(ConnectorConfig):
    prefix: ClassVar[str] = "DESK_"
    folder: str = Field(description="Where effects are written.")


class Till(Backend):
    config: TillConfig

    async def check(self) -> str:
        return "The till is open."

    def note(self, line: str) -> None:
        with (Path(self.config.folder) / "effects").open("a") as file:
            file.write(line + "\n")


class Made(BaseModel):
    done: str


class Record(BaseModel):
    email: str
    diagnosis: str


connector = Connector("till", version="1.0.0", instructions="For tests.", config=TillConfig, backend=Till)
People = Annotated[list[str], Field(description="Who is paid.")]


@connector.tool(
    ToolManifest(
        scope="write",
        path="payments",
        steering=("to", "amount", "tags"),
        content=("memo",),
        plain=("speed",),
        harmless_values={"currency": ("EUR", "CHF")},
    )
)
async def pay(
    till: Till,
    to: People,
    call: WriteCall,
    amount: str = "20",
    memo: str = "",
    speed: Literal["slow", "fast"] = "slow",
    currency: str = "EUR",
    tags: Annotated[tuple[str, ...], Field(description="For the books.")] = (),
) -> Made:
    """Pay an amount to people."""
    till.note(f"pay {to} {amount}")
    return Made(done="paid")


@connector.tool(
    ToolManifest(
        scope="write",
        path="board",
        destinations=("channel",),
        content=("text",),
        harmless_values={"channel": ("status",)},
    )
)
async def announce(till: Till, text: str, call: WriteCall, channel: str = "general") -> Made:
    """Write on a board."""
    till.note(f"announce {text}")
    return Made(done="announced")


@connector.tool(ToolManifest(scope="read", path="records", lookups=("email",), owner_argument="email"))
async def record_of(till: Till, email: str) -> Record:
    """The record of one person."""
    return Record(email=email, diagnosis="hereditary angioedema")


if __name__ == "__main__":
    main(connector)
