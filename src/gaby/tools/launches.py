"""How a stored connector becomes a server that can be started: its command or address, with its secrets opened."""

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from sqlalchemy import select

from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession, WriteSession
from gaby.kernel.errors import NotFound
from gaby.kernel.ids import WorkspaceId
from gaby.mcp import HttpLaunch, InProcessLaunch, Launch, McpHost, ServerKey, StdioLaunch
from gaby.tools import builtin
from gaby.tools.models import Connector

_PURPOSE = "connector"
STATE_VARIABLE = "GABY_CONNECTOR_STATE"


class _Way(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bundled(_Way):
    """One of Gaby's own connectors."""

    transport: Literal["bundled"] = "bundled"
    module: Annotated[str, Field(pattern=r"^gaby_connectors\.[a-z_]+$")]
    env: dict[str, str] = {}


class Command(_Way):
    """A program on this machine."""

    transport: Literal["stdio"] = "stdio"
    command: Annotated[str, Field(min_length=1, max_length=1000)]
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}


class Remote(_Way):
    """A server elsewhere, over Streamable HTTP."""

    transport: Literal["http"] = "http"
    url: Annotated[str, Field(pattern=r"^https?://[^\s@]+$", max_length=2000)]


Way: TypeAlias = Annotated[Bundled | Command | Remote, Field(discriminator="transport")]
WAY: TypeAdapter[Way] = TypeAdapter(Way)


async def seal_secrets(session: WriteSession, vault: Vault, row_id: object, secrets: Mapping[str, str]) -> str | None:
    if not secrets:
        return None
    return await vault.seal(session, f"connector:{row_id}", json.dumps(dict(secrets)), _PURPOSE)


class Launcher:
    """Keeps the host's idea of each connector in step with the database."""

    def __init__(
        self, database: Database, vault: Vault, host: McpHost, folder: Path, built_in: Callable[[WorkspaceId], Any]
    ) -> None:
        self._database = database
        self._vault = vault
        self._host = host
        self._folder = folder
        self._built_in = built_in
        self._known: dict[ServerKey, int] = {}

    async def ready(self, key: ServerKey, epoch: int) -> None:
        """The host knows the connector as it was at this epoch, or later."""
        if self._known.get(key) == epoch:
            return
        if key.connector == builtin.NAME:
            await self._host.configure(key, InProcessLaunch(partial(self._built_in, key.workspace_id)))
        else:
            await self._host.configure(key, await self._stored(key))
        self._known[key] = epoch

    async def _stored(self, key: ServerKey) -> Launch:
        async with self._database.read(key.workspace_id) as session:
            query = select(Connector).where(
                Connector.workspace_id == session.workspace_id, Connector.name == key.connector
            )
            row = (await session.scalars(query)).one_or_none()
            if row is None:
                raise NotFound(f"There is no connector {key.connector}. `gaby connector list` shows them.")
            return await self._launch(session, row)

    async def gone(self, key: ServerKey) -> None:
        self._known.pop(key, None)
        await self._host.remove(key)

    async def _launch(self, session: ReadSession, row: Connector) -> Launch:
        secrets: dict[str, str] = {}
        if row.secrets is not None:
            secrets = json.loads(await self._vault.open(session, f"connector:{row.id}", row.secrets, _PURPOSE))
        match WAY.validate_python(row.launch):
            case Bundled(module=module, env=env):
                state = {STATE_VARIABLE: str(self._state(row))}
                return StdioLaunch(sys.executable, ("-m", module), {**state, **env, **secrets})
            case Command(command=command, args=args, env=env):
                return StdioLaunch(command, args, {**env, **secrets})
            case Remote(url=url):
                return HttpLaunch(url, secrets)

    def _state(self, row: Connector) -> Path:
        """Where the connector remembers which calls it has carried out."""
        folder = self._folder / str(row.workspace_id) / str(row.id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder
