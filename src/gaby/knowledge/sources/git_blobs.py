"""Reads the files of a repository one after the other, from one git that stays."""

import asyncio

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.git_process import GitProcess, end, piped
from gaby.knowledge.sources.source import SourceUnavailable

_SECONDS = 60.0
_LARGE_FILE = b"version https://git-lfs.github.com/spec/v1"


class GitBlobReader:
    def __init__(self, git: GitProcess, max_bytes: int) -> None:
        self._git = git
        self._max_bytes = max_bytes
        self._process: asyncio.subprocess.Process | None = None
        self._complaints: asyncio.Task[bytes] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def read(self, blob: str) -> bytes:
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(_SECONDS):
                    data = await self._read(await self._started(), blob)
            except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
                await self._end()
                raise SourceUnavailable("The local copy of the repository cannot be read at the moment.") from error
            except BaseException:
                # Half an answer may be left in the pipe, and would be taken for the next one.
                await self._end()
                raise
        if data.startswith(_LARGE_FILE):
            raise Unreadable("It is kept outside of the repository, in Git LFS, which is not read.")
        return data

    async def close(self) -> None:
        async with self._one_at_a_time:
            await self._end()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            self._process = await self._git.start("cat-file", "--batch", stdin=asyncio.subprocess.PIPE)
            self._complaints = asyncio.create_task(piped(self._process.stderr).read())
        return self._process

    async def _read(self, process: asyncio.subprocess.Process, blob: str) -> bytes:
        asking, answers = piped(process.stdin), piped(process.stdout)
        asking.write(f"{blob}\n".encode())
        await asking.drain()
        header = (await answers.readuntil(b"\n")).split()
        if len(header) != 3 or header[1] != b"blob" or int(header[2]) > self._max_bytes:
            raise SourceUnavailable("The local copy of the repository is not complete. The next sync fetches it again.")
        data = await answers.readexactly(int(header[2]))
        await answers.readexactly(1)
        return data

    async def _end(self) -> None:
        process, complaints = self._process, self._complaints
        self._process = self._complaints = None
        if process is not None:
            await end(process, piped(process.stdout))
        if complaints is not None:
            await complaints
