"""What somebody typed about a new connector, turned into one."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from gaby.cli import completion
from gaby.kernel.errors import BadRequest
from gaby.tools.connectors import NewConnector
from gaby.tools.launches import CommandSpec, RemoteSpec
from gaby.tools.manifests import parse_manifest
from gaby.tools.setup import bundled, declared_settings
from gaby_connectors.catalogue import BUNDLED
from gaby_connectors.sdk.manifest import ConnectorManifest

ConnectorName = Annotated[
    str,
    typer.Argument(help="`gaby connector list` shows the names.", autocompletion=completion.connectors),
]


@dataclass(frozen=True)
class ConnectorOptions:
    name: str
    what: tuple[str, ...]
    """A kind, or a command with its arguments."""
    settings: tuple[str, ...]
    url: str | None
    stdin: bool = False
    manifest: Path | None = None


def new_connector(given: ConnectorOptions) -> NewConnector:
    """Exactly one of a kind, an address or a command. Required settings that are missing are asked for."""
    if bool(given.what) == (given.url is not None):
        raise BadRequest("Give a kind, or --url, or a command after `--`. `gaby connector kinds` lists the kinds.")
    settings = _settings(given)
    manifest = _manifest(given.manifest)
    try:
        if given.url is not None:
            return NewConnector(given.name, "http", RemoteSpec(url=given.url), secrets=settings, manifest=manifest)
        if len(given.what) == 1 and (given.what[0] in BUNDLED or "/" not in given.what[0]):
            kind = given.what[0]
            return bundled(given.name, kind, {**_asked(kind, settings), **settings})
        way = CommandSpec(command=given.what[0], args=given.what[1:])
    except ValidationError as error:
        raise BadRequest(f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}") from None
    return NewConnector(given.name, "command", way, secrets=settings, manifest=manifest)


def _settings(given: ConnectorOptions) -> dict[str, str]:
    typed = [line.rstrip("\n") for line in iter(sys.stdin.readline, "")] if given.stdin else []
    lines = [*given.settings, *(line for line in typed if line.strip())]
    settings: dict[str, str] = {}
    for line in lines:
        name, separator, value = line.partition("=")
        if not separator:
            raise BadRequest("A setting is written NAME=VALUE.")
        settings[name.strip()] = value
    return settings


def _asked(kind: str, settings: dict[str, str]) -> dict[str, str]:
    if not sys.stdin.isatty():
        return {}
    wanted = [each for each in declared_settings(kind) if each.required and each.variable not in settings]
    return {
        each.variable: typer.prompt(f"{each.description} ({each.variable})", hide_input=each.secret, err=True)
        for each in wanted
    }


def _manifest(file: Path | None) -> ConnectorManifest | None:
    if file is None:
        return None
    try:
        return parse_manifest(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file} cannot be read: {error}") from None
