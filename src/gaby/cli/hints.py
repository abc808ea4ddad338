"""Commands that messages suggest: with the workspace that the user named, so that they work as they are printed."""

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from shlex import quote
from typing import Any, cast

import typer

_SUGGESTED = re.compile(r"`gaby ([^`\n]+)`")
_NAMED = re.compile(r"(?:^|\s)(?:--workspace|-w)\b")
_END_OF_OPTIONS = " -- "


@dataclass
class _Invocation:
    build_app: Callable[[str], typer.Typer]
    workspace: str | None = None


_invocation: ContextVar[_Invocation | None] = ContextVar("invocation", default=None)


def begin(build_app: Callable[[str], typer.Typer]) -> None:
    """A command is about to run. `build_app` loads the group of commands that a message suggests one of."""
    _invocation.set(_Invocation(build_app))


def remember_workspace(slug: str | None) -> str | None:
    """The callback of every option `--workspace`."""
    if (invocation := _invocation.get()) is not None:
        invocation.workspace = slug
    return slug


def in_named_workspace(text: str) -> str:
    """The text, in which every suggested command that takes a workspace names the one that the user named."""
    invocation = _invocation.get()
    if invocation is None or invocation.workspace is None:
        return text
    option = f" --workspace {quote(invocation.workspace)}"

    def completed(match: re.Match[str]) -> str:
        command = match[1]
        if _NAMED.search(command) or not _takes_workspace(command, invocation.build_app):
            return match[0]
        before, dashes, after = command.partition(_END_OF_OPTIONS)
        return f"`gaby {before}{option}{dashes}{after}`"

    return _SUGGESTED.sub(completed, text)


def _takes_workspace(command: str, build_app: Callable[[str], typer.Typer]) -> bool:
    words = command.split()
    node: Any = typer.main.get_command(build_app(words[0]))
    for word in words:
        commands = cast("Mapping[str, Any]", getattr(node, "commands", {}))
        if word not in commands:
            break
        node = commands[word]
    return any("--workspace" in parameter.opts for parameter in node.params)
