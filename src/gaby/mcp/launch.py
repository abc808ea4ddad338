"""How a connector's server is reached. The secrets in it are never shown."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from gaby.kernel.ids import WorkspaceId
from gaby.kernel.log.masking import MASK, mask
from gaby.kernel.text import printable

# What a program needs to run at all. Gaby's own environment holds its secrets, so nothing else is passed on.
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")

# Shorter values are ports and flags, and hiding every "1" of a text would tell more than it hides.
_SECRET_LENGTH = 6


class ServerKey(NamedTuple):
    """One server per connector and workspace, never shared."""

    workspace_id: WorkspaceId
    connector: str


@dataclass(frozen=True)
class StdioLaunch:
    """A program that speaks MCP on its stdin and stdout."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: Path | None = None

    def environment(self) -> dict[str, str]:
        return {name: os.environ[name] for name in _INHERITED if name in os.environ} | dict(self.env)


@dataclass(frozen=True)
class HttpLaunch:
    """A server that speaks MCP over Streamable HTTP."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True)
class InProcessLaunch:
    """A small server inside Gaby: `make_server` gives a `Server` of the MCP SDK."""

    make_server: Callable[[], Any]


Launch: TypeAlias = StdioLaunch | HttpLaunch | InProcessLaunch


def secrets_of(launch: Launch) -> tuple[str, ...]:
    """The values that must not appear anywhere, longest first."""
    match launch:
        case StdioLaunch(env=values) | HttpLaunch(headers=values):
            # "Bearer x" is a secret as a whole and in its last word.
            secrets = {part for value in values.values() for part in (value, value.rpartition(" ")[2])}
        case InProcessLaunch():
            secrets: set[str] = set()
    return tuple(sorted((value for value in secrets if len(value) >= _SECRET_LENGTH), key=len, reverse=True))


def hide(text: str, secrets: tuple[str, ...]) -> str:
    """The text without these secrets, without what looks like one, and unable to move a cursor."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return mask(printable(text))
