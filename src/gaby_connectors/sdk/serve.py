"""Runs a connector as a program: settings from the environment, JSON-RPC on stdin and stdout, talk on stderr."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from gaby_connectors.sdk.address_guard import enforce, from_environment
from gaby_connectors.sdk.config import ConfigT, ConnectorConfig, load, secrets_of
from gaby_connectors.sdk.connector import Connector, ConnectorServer, state_folder
from gaby_connectors.sdk.errors import NotConfigured
from gaby_connectors.sdk.scrub import Scrubber
from gaby_connectors.sdk.stdio import pipes

NOT_CONFIGURED = 2


def main(connector: Connector) -> NoReturn:
    """For `__main__`: serves until stdin is closed or a signal says stop. Exit code 2 when the settings are wrong."""
    run(connector.config, lambda _config: connector)


def run(config: type[ConfigT], build: Callable[[ConfigT], Connector]) -> NoReturn:
    """Like `main`, for a connector whose tools depend on its settings."""
    try:
        if (outside := from_environment()) is not None:
            enforce(outside)
        settings = load(config, os.environ)
        _quiet(settings)
        server = build(settings).server(settings, state=state_folder())
    except NotConfigured as error:
        _say(f"This connector is not configured:\n{error}")
        sys.exit(NOT_CONFIGURED)
    asyncio.run(serve(server))
    sys.exit(0)


async def serve(server: ConnectorServer) -> None:
    """Serves one client on the standard streams."""
    loop = asyncio.get_running_loop()
    try:
        async with pipes() as (ends, incoming, outgoing):
            for name in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(name, ends.stop)
            await server.run(incoming, outgoing, server.create_initialization_options())
    except ValueError:
        _say("This is an MCP server. It speaks JSON-RPC over pipes: start it from Gaby or another MCP client.")
        sys.exit(NOT_CONFIGURED)


def _quiet(config: ConnectorConfig) -> None:
    """Warnings of libraries go to stderr, without secrets."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_ScrubbingFormatter(Scrubber(secrets_of(config))))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


class _ScrubbingFormatter(logging.Formatter):
    def __init__(self, scrubber: Scrubber) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self._scrubber = scrubber

    def format(self, record: logging.LogRecord) -> str:
        return self._scrubber.text(super().format(record))


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
