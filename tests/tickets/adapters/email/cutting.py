"""A line to a server that is cut at the worst moment."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass


@dataclass
class CutLine:
    target: int
    said: bytes
    """What the client says last."""
    heard: bytes
    """What the server answers to that, and nobody hears. Nothing: the server does not hear the last words either."""
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        answers = asyncio.create_task(_pass_on(there, writer))
        try:
            await self._until_cut(reader, back, answers)
            if not answers.done():
                answers.cancel()
            with suppress(asyncio.CancelledError):
                await answers
            if self.heard:
                await there.readuntil(self.heard)
        finally:
            writer.transport.abort()
            back.transport.abort()

    async def _until_cut(
        self, reader: asyncio.StreamReader, back: asyncio.StreamWriter, answers: asyncio.Task[None]
    ) -> None:
        told = b""
        while part := await reader.read(65536):
            told = (told + part)[-100_000:]
            at_the_end = self.said in told
            if at_the_end and self.heard:
                # From here on, what the server answers stays here.
                answers.cancel()
                with suppress(asyncio.CancelledError):
                    await answers
            if not at_the_end or self.heard:
                back.write(part)
                await back.drain()
            if at_the_end:
                return


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def cut_line(target: int, *, said: bytes, heard: bytes) -> AsyncGenerator[CutLine]:
    line = CutLine(target, said, heard)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    line.port = server.sockets[0].getsockname()[1]
    async with server:
        yield line
