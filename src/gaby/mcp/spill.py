"""Answers that are too large to pass around: on disk in sealed pages, found again by an id that nobody can guess."""

import asyncio
import os
import re
import secrets
import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from gaby.kernel.clock import Clock
from gaby.kernel.errors import GabyError
from gaby.kernel.ids import Random, WorkspaceId
from gaby.mcp.errors import NoSuchPage, SpillDamaged, SpillFailed, SpillNotFound

PAGE = 65_536
_ID = re.compile(r"[0-9a-f]{32}")
_LENGTH = struct.Struct(">I")
_UNFINISHED = ".part"


class Cipher(Protocol):
    """`context` is what the bytes are bound to: sealed for one place, they do not open in another."""

    def seal(self, plain: bytes, context: bytes) -> bytes: ...

    def open(self, sealed: bytes, context: bytes) -> bytes:
        """Raises a `GabyError` or a `ValueError` when the bytes were changed or belong elsewhere."""
        ...


class SpillPointer(NamedTuple):
    """Stands for a large answer: its beginning, its end, and how to get the rest."""

    id: str
    size: int
    pages: int
    head: str
    tail: str


class SpillFolder:
    def __init__(
        self, folder: Path, cipher: Cipher, clock: Clock, random: Random = secrets.token_bytes, *, preview: int = 8_000
    ) -> None:
        self._folder = folder
        self._cipher = cipher
        self._clock = clock
        self._random = random
        self._preview = preview

    async def store(self, workspace_id: WorkspaceId, text: str) -> SpillPointer:
        """Raises `SpillFailed` when the disk does not take it; then nothing is left behind."""
        head, tail = preview(text, self._preview)
        data = text.encode("utf-8", "replace")
        name = self._random(16).hex()
        pages = list(_pages(data))
        await asyncio.to_thread(self._write, workspace_id, name, pages)
        return SpillPointer(name, len(data), len(pages), head, tail)

    async def read(self, workspace_id: WorkspaceId, pointer_id: str, page: int) -> str:
        """One page, counted from 0. An id of another workspace is not found, as if it did not exist."""
        if not _ID.fullmatch(pointer_id):
            raise SpillNotFound
        return (await asyncio.to_thread(self._read, workspace_id, pointer_id, page)).decode()

    async def sweep(self, older_than: timedelta) -> int:
        """Remove what is older, and say how many."""
        return await asyncio.to_thread(self._sweep, (self._clock.now() - older_than).timestamp())

    async def forget(self, workspace_id: WorkspaceId) -> None:
        """Remove everything that was kept for a workspace."""
        await asyncio.to_thread(self._forget, workspace_id)

    def _write(self, workspace_id: WorkspaceId, name: str, pages: list[bytes]) -> None:
        path = self._path(workspace_id, name)
        unfinished = path.with_suffix(_UNFINISHED)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.parent.mkdir(exist_ok=True, mode=0o700)
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(_LENGTH.pack(len(pages)))
                for number, page in enumerate(pages):
                    sealed = self._cipher.seal(page, _context(workspace_id, name, number, len(pages)))
                    file.write(_LENGTH.pack(len(sealed)) + sealed)
            # So that its age is that of our clock, by which it is removed.
            stamp = self._clock.now().timestamp()
            os.utime(unfinished, (stamp, stamp))
            unfinished.rename(path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise SpillFailed(f"A large answer could not be kept on disk: {error.strerror}. Make room.") from error

    def _read(self, workspace_id: WorkspaceId, name: str, page: int) -> bytes:
        try:
            with self._path(workspace_id, name).open("rb") as file:
                pages, sealed = _find(file, page)
        except FileNotFoundError:
            raise SpillNotFound from None
        try:
            return self._cipher.open(sealed, _context(workspace_id, name, page, pages))
        except (GabyError, ValueError):
            raise SpillDamaged from None

    def _sweep(self, before: float) -> int:
        removed = 0
        for path in self._folder.glob("*/*"):
            # Somebody else may sweep at the same time.
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()
                    removed += path.suffix != _UNFINISHED
        return removed

    def _forget(self, workspace_id: WorkspaceId) -> None:
        folder = self._folder / workspace_id.hex
        for path in folder.glob("*"):
            path.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            folder.rmdir()

    def _path(self, workspace_id: WorkspaceId, name: str) -> Path:
        return self._folder / workspace_id.hex / name


def preview(text: str, length: int) -> tuple[str, str]:
    """The beginning and the end."""
    return text[:length], text[max(length, len(text) - length) :]


def _pages(data: bytes) -> Iterator[bytes]:
    """Cut between characters, so that each page is a text."""
    start = 0
    while start < len(data):
        end = min(start + PAGE, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end]
        start = end


def _find(file: BinaryIO, page: int) -> tuple[int, bytes]:
    pages = _number(file)
    if not 0 <= page < pages:
        raise NoSuchPage(f"The stored answer has {pages} pages, counted from 0; there is no page {page}.")
    for _ in range(page):
        file.seek(_number(file), os.SEEK_CUR)
    return pages, file.read(_number(file))


def _number(file: BinaryIO) -> int:
    data = file.read(_LENGTH.size)
    if len(data) < _LENGTH.size:
        raise SpillDamaged
    return _LENGTH.unpack(data)[0]


def _context(workspace_id: WorkspaceId, name: str, page: int, pages: int) -> bytes:
    return f"gaby spill {workspace_id.hex} {name} {page}/{pages}".encode()
