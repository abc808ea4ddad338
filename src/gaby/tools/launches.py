"""How a stored connector becomes a server that can be started: its command or address, with its secrets opened."""

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from sqlalchemy import select

from gaby.kernel.crypto import Vault
from gaby.kernel.database import Database, ReadSession
from gaby.kernel.errors import NotFound
from gaby.kernel.ids import WorkspaceId
from gaby.mcp import HttpLaunch, InProcessLaunch, Launch, McpHost, ServerKey, StdioLaunch
from gaby.tools import builtin
from gaby.tools.models import ConnectorRecord
from gaby.tools.tokens import OAuthGrant, TokenRefresher, open_secrets
from gaby_connectors.sdk.address_guard import INSIDE_VARIABLE

STATE_VARIABLE = "GABY_CONNECTOR_STATE"


class _LaunchSpec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BundledSpec(_LaunchSpec):
    """One of Gaby's own connectors."""

    transport: Literal["bundled"] = "bundled"
    module: Annotated[str, Field(pattern=r"^gaby_connectors\.[a-z_]+$")]
    env: dict[str, str] = {}
    any_address: bool = False
    """Whoever manages the installation set it up, so it may reach places inside the network."""


class CommandSpec(_LaunchSpec):
    """A program on this machine."""

    transport: Literal["stdio"] = "stdio"
    command: Annotated[str, Field(min_length=1, max_length=1000)]
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}


class RemoteSpec(_LaunchSpec):
    """A server elsewhere, over Streamable HTTP."""

    transport: Literal["http"] = "http"
    url: Annotated[str, Field(pattern=r"^https?://[^\s@]+$", max_length=2000)]


Way: TypeAlias = Annotated[BundledSpec | CommandSpec | RemoteSpec, Field(discriminator="transport")]
WAY: TypeAdapter[Way] = TypeAdapter(Way)


class Launcher:
    """Keeps the host's idea of each connector in step with the database."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        host: McpHost,
        folder: Path,
        built_in: Callable[[WorkspaceId], Any],
        inside: str,
    ) -> None:
        self._inside = inside
        self._database = database
        self._vault = vault
        self._host = host
        self._folder = folder
        self._built_in = built_in
        self._tokens: TokenRefresher | None = None
        self._known: dict[ServerKey, int] = {}
        self._grants: dict[ServerKey, OAuthGrant] = {}
        self._locks: dict[ServerKey, asyncio.Lock] = {}

    def renewed_by(self, tokens: TokenRefresher) -> None:
        """From now on tokens are renewed. Without this they are used until they are refused."""
        self._tokens = tokens

    async def ready(self, key: ServerKey, epoch: int) -> OAuthGrant | None:
        """The host knows the connector as it was at this epoch, or later, with a token that has not run out."""
        if not self._is_ready(key, epoch):
            # One at a time, so that nobody puts an old token in the place of a new one.
            async with self._locks.setdefault(key, asyncio.Lock()):
                if not self._is_ready(key, epoch):
                    await self._prepare(key, epoch)
        return self._grants.get(key)

    def _is_ready(self, key: ServerKey, epoch: int) -> bool:
        grant = self._grants.get(key)
        due = grant is not None and self._tokens is not None and self._tokens.is_due(grant)
        return self._known.get(key) == epoch and not due

    async def _prepare(self, key: ServerKey, epoch: int) -> None:
        if key.connector == builtin.NAME:
            await self._host.configure(key, InProcessLaunch(partial(self._built_in, key.workspace_id)))
        else:
            if self._tokens is not None:
                await self._tokens.keep_fresh(key)
            launch, grant = await self._stored(key)
            await self._host.configure(key, launch)
            self._grants.pop(key, None)
            if grant is not None:
                self._grants[key] = grant
        self._known[key] = epoch

    async def renew(self, key: ServerKey, refused: OAuthGrant | None) -> bool:
        """Whether there is a newer token than the one that was refused. The connector gets it at its next use."""
        if refused is None or self._tokens is None or not await self._tokens.renew(key, refused):
            return False
        if self._grants.get(key) == refused:
            self._known.pop(key, None)
        return True

    async def finish(self) -> None:
        """Before Gaby stops: tokens that are being renewed are also stored."""
        if self._tokens is not None:
            await self._tokens.finish()

    async def _stored(self, key: ServerKey) -> tuple[Launch, OAuthGrant | None]:
        async with self._database.read(key.workspace_id) as session:
            query = select(ConnectorRecord).where(
                ConnectorRecord.workspace_id == session.workspace_id, ConnectorRecord.name == key.connector
            )
            row = (await session.scalars(query)).one_or_none()
            if row is None:
                raise NotFound(f"There is no connector {key.connector}. `gaby connector list` shows them.")
            return await self._launch(session, row)

    async def gone(self, key: ServerKey) -> None:
        self._known.pop(key, None)
        self._grants.pop(key, None)
        await self._host.remove(key)

    async def _launch(self, session: ReadSession, row: ConnectorRecord) -> tuple[Launch, OAuthGrant | None]:
        opened = await open_secrets(session, self._vault, row)
        match WAY.validate_python(row.launch):
            case BundledSpec(module=module, env=env, any_address=any_address):
                reach = "*" if any_address else self._inside
                state = {STATE_VARIABLE: str(self._state(row)), INSIDE_VARIABLE: reach}
                launch = StdioLaunch(sys.executable, ("-m", module), {**env, **opened.environment, **state})
            case CommandSpec(command=command, args=args, env=env):
                launch = StdioLaunch(command, args, {**env, **opened.environment})
            case RemoteSpec(url=url):
                launch = HttpLaunch(url, opened.headers)
        return launch, opened.grant

    def _state(self, row: ConnectorRecord) -> Path:
        """Where the connector remembers which calls it has carried out."""
        folder = self._folder / str(row.workspace_id) / str(row.id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder
