"""A connector small enough to see through: a counter, and tools that misbehave on request."""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, SecretStr

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import ToolError, not_found, transient
from gaby_connectors.sdk.manifest import ErrorKind, ResultLabel, ToolManifest
from gaby_connectors.sdk.serve import main
from gaby_connectors.sdk.tool import WriteCall


async def until(ready: Callable[[], bool]) -> None:
    """Waits for something that tells nobody when it happens, such as a file."""
    async with asyncio.timeout(30):
        for _ in itertools.repeat(None):
            if ready():
                return
            await asyncio.sleep(0.01)


class ToyConfig(ConnectorConfig):
    prefix: ClassVar[str] = "TOY_"

    effects: Annotated[Path, Field(description="Where effects are written down, one line each.")]
    secret: Annotated[SecretStr, Field(description="Something nobody may learn.")] = SecretStr("hunter2-hunter2")


class Toy(Backend):
    config: ToyConfig

    def act(self, text: str) -> int:
        with self.config.effects.open("a") as file:
            file.write(f"{text}\n")
        return len(self.done())

    def done(self) -> list[str]:
        return self.config.effects.read_text().splitlines() if self.config.effects.exists() else []


class Acted(BaseModel):
    text: str
    count: int


class Told(BaseModel):
    value: Any


class Rows(BaseModel):
    title: str
    rows: list[str]
    note: str = ""


connector = Connector("toy", version="2.1.0", instructions="Play.", config=ToyConfig, backend=Toy)
WRITE = ToolManifest(
    scope="write", path="acts/{text}", steering=("text",), supports_dry_run=True, idempotent=True, dangerous=True
)
Text = Annotated[str, Field(min_length=1, max_length=50, description="What to write down.")]


async def found_in_backend(toy: Toy, key: str) -> Acted | None:
    """This backend notes the key with the effect, so what happened can be looked up."""
    lines = [line for line in toy.done() if line.endswith(key)]
    return Acted(text=lines[0].split()[0], count=len(lines)) if lines else None


@connector.tool(WRITE)
async def act(toy: Toy, text: Text, call: WriteCall) -> Acted:
    """Write a text down."""
    if call.dry_run:
        return Acted(text=text, count=len(toy.done()) + 1)
    await asyncio.sleep(0)
    return Acted(text=text, count=toy.act(text))


@connector.tool(WRITE)
async def act_and_die(toy: Toy, text: Text, call: WriteCall) -> Acted:
    """Write a text down, and crash before anybody hears of it."""
    toy.act(text)
    os.kill(os.getpid(), signal.SIGKILL)
    return Acted(text=text, count=0)


@connector.tool(WRITE)
async def act_and_fail(toy: Toy, text: Text, call: WriteCall) -> Acted:
    """Write a text down, then run into something unforeseen."""
    toy.act(text)
    raise RuntimeError(f"{toy.config.secret.get_secret_value()} does not belong here")


@connector.tool(WRITE, repeatable=True)
async def act_again(toy: Toy, text: Text, call: WriteCall) -> Acted:
    """Write a text down; twice is as good as once."""
    toy.act(text)
    raise (
        transient("The line broke.", outcome="unknown")
        if len(toy.done()) == 1
        else ToolError(ErrorKind.PERMANENT, "Done twice.")
    )


@connector.tool(WRITE, lookup=found_in_backend)
async def act_with_key(toy: Toy, text: Text, call: WriteCall) -> Acted:
    """Write a text down together with the key, then lose the line."""
    toy.act(f"{text} {call.idempotency_key}")
    raise transient("The line broke.", outcome="unknown")


@connector.tool(WRITE)
async def refuse(toy: Toy, text: Text, call: WriteCall) -> Acted:
    """Do nothing the first time."""
    if not toy.done():
        toy.act("refused")
        raise transient("Come back later.", retry_after=3)
    return Acted(text=text, count=toy.act(text))


@connector.tool(ToolManifest(scope="write", path="slow", supports_dry_run=False, idempotent=True, content=("text",)))
async def act_slowly(toy: Toy, text: Text, call: WriteCall) -> Acted:
    """Write a text down when the file `go` appears beside the effects."""
    toy.act(f"begun {text}")
    await until((toy.config.effects.parent / "go").exists)
    return Acted(text=text, count=toy.act(f"done {text}"))


@connector.tool(ToolManifest(scope="read", results={"value": ResultLabel.EXTERNAL}))
async def echo(toy: Toy, value: Any) -> Told:
    """Say something back."""
    return Told(value=value)


@connector.tool(ToolManifest(scope="read"), more="Ask for fewer.")
async def rows(toy: Toy, count: Annotated[int, Field(ge=0)], width: int = 100, note: int = 0) -> Rows:
    """Give many rows."""
    return Rows(title="many", rows=[f"{number:06}".ljust(width, "x") for number in range(count)], note="é" * note)


@connector.tool(ToolManifest(scope="read"))
async def print_something(toy: Toy, where: str) -> Told:
    """Print where nothing may be printed."""
    sys.stdout.write(f"stray {where}\n")
    sys.stdout.flush()
    os.write(1, b"stray bytes\n")
    return Told(value=where)


@connector.tool(ToolManifest(scope="read"))
async def leak(toy: Toy, how: str) -> Told:
    """Tell the secret in some way."""
    secret = toy.config.secret.get_secret_value()
    match how:
        case "result":
            return Told(value={"deep": [f"it is {secret}!"], secret: 1})
        case "error":
            raise not_found(f"no {secret} here")
        case _:
            raise ValueError(f"broken by {secret}")


if __name__ == "__main__":
    main(connector)
