"""Connections of the standard library's mail clients: each in a thread, each within a time."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from gaby.kernel.text import printable
from gaby_connectors.sdk.address_guard import AddressNotAllowed, AddressPolicy

T = TypeVar("T")
ANSWER_WITHIN = 20.0
"""Seconds for a single answer of a server."""


class MailConnection:
    """The connection that a piece of work has open, so that it can be cut from outside."""

    def __init__(self, outside: AddressPolicy) -> None:
        self.outside = outside
        self._current: Callable[[], socket.socket | None] = lambda: None

    def watch(self, current: Callable[[], socket.socket | None]) -> None:
        self._current = current

    def cut(self) -> None:
        with suppress(OSError, AttributeError):
            connection = self._current()
            if connection is not None:
                connection.shutdown(socket.SHUT_RDWR)


async def in_time(seconds: float, operation: Callable[[MailConnection], T], outside: AddressPolicy) -> T:
    """When the time is up the line is cut, and the work itself says what that means: only it knows how far it was."""
    line = MailConnection(outside)
    task = asyncio.create_task(asyncio.to_thread(operation, line))
    try:
        done, _ = await asyncio.wait((task,), timeout=seconds)
        if not done:
            line.cut()
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        line.cut()
        # Nobody waits for it any more, and what it says is not to be reported as forgotten.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        raise


def tls() -> ssl.SSLContext:
    """Certificates are checked. `SSL_CERT_FILE` can name the authority of a network of one's own."""
    return ssl.create_default_context()


def said(answer: object) -> str:
    """What a server said, fit to be shown."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else str(answer)
    return printable(text[:200], one_line=True)


def what_failed(host: str, error: Exception) -> str:
    if isinstance(error, AddressNotAllowed):
        return str(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {host} is not valid. SSL_CERT_FILE can name the authority of your own network."
    if isinstance(error, ssl.SSLError):
        return f"{host} does not speak TLS as it should. Check the port and the kind of TLS."
    if isinstance(error, TimeoutError):
        return f"{host} did not answer in time."
    if isinstance(error, ConnectionRefusedError | socket.gaierror):
        return f"{host} cannot be reached."
    return f"The connection to {host} broke off."
