"""Work on a connection ends in time, whatever the other side does."""

import asyncio
import socket
from threading import Event

import pytest

from gaby.tickets.adapters.email.connections import MailConnection, in_time
from gaby_connectors.sdk.address_guard import AddressPolicy

pytestmark = pytest.mark.promise("T2")


async def test_a_line_on_which_nobody_speaks_is_cut() -> None:
    ours, theirs = socket.socketpair()

    def work(line: MailConnection) -> bytes:
        line.watch(lambda: ours)
        return ours.recv(1)

    with ours, theirs:
        assert await in_time(0.05, work, AddressPolicy.anywhere()) == b""


async def test_work_that_nobody_waits_for_ends_as_well() -> None:
    ours, theirs = socket.socketpair()
    listening, ended = Event(), Event()

    def work(line: MailConnection) -> None:
        line.watch(lambda: ours)
        listening.set()
        ours.recv(1)
        ended.set()
        raise ConnectionError

    with ours, theirs:
        waiting = asyncio.create_task(in_time(60, work, AddressPolicy.anywhere()))
        await asyncio.to_thread(listening.wait, 30)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await asyncio.to_thread(ended.wait, 30)
