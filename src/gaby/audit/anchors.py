"""Anchors: checkpoints kept where whoever can change the database cannot reach."""

import asyncio
import fcntl
import os
from collections import deque
from pathlib import Path
from typing import BinaryIO, Protocol

import httpx2

from gaby.audit.canonical import canonical
from gaby.audit.errors import Malformed
from gaby.audit.line_reader import parse
from gaby.audit.signing_key import sync_folder
from gaby.audit.statements import Anchor, understand
from gaby.kernel.log import get_log

_TIMEOUT = 5.0
_KEPT = 100
_LONGEST_LINE = 8192

_log = get_log(__name__)


class AnchorTarget(Protocol):
    name: str

    async def store(self, anchor: Anchor) -> None:
        """Raises `OSError` or `httpx2.HTTPError` when it cannot; it is asked again later."""
        ...


class AnchorFile:
    """One line per anchor, each on disk before the next step. Another disk than the database's is better."""

    name = "file"

    def __init__(self, path: Path) -> None:
        self.path = path

    async def store(self, anchor: Anchor) -> None:
        await asyncio.to_thread(self._append, anchor)

    def _append(self, anchor: Anchor) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not self.path.exists()
        with self.path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # A crash may have torn the last line. It was never acknowledged, and the next one must stand alone.
            end, last = _last_line(file)
            file.truncate(end)
            if not _is_late(anchor, last):
                file.write(anchor_line(anchor))
                file.flush()
                os.fsync(file.fileno())
        if is_new:
            sync_folder(self.path.parent)


class AnchorWebhook:
    name = "webhook"

    def __init__(self, url: str, client: httpx2.AsyncClient) -> None:
        self._url = url
        self._client = client

    async def store(self, anchor: Anchor) -> None:
        headers = {"Content-Type": "application/json"}
        answer = await self._client.post(self._url, content=anchor_line(anchor), headers=headers, timeout=_TIMEOUT)
        answer.raise_for_status()


class Anchors:
    """Sends each anchor to every place. What a place did not take is offered again with the next anchor."""

    def __init__(self, *places: AnchorTarget) -> None:
        self._waiting = {place: deque[Anchor](maxlen=_KEPT) for place in places}

    async def publish(self, anchor: Anchor) -> None:
        checkpoint = anchor.checkpoint
        _log.info("audit.anchored", size=checkpoint.size, root=checkpoint.root.hex(), key=checkpoint.key_id)
        for place, waiting in self._waiting.items():
            waiting.append(anchor)
            try:
                while waiting:
                    await place.store(waiting[0])
                    waiting.popleft()
            except (OSError, httpx2.HTTPError) as error:
                _log.warning("audit.anchor_failed", place=place.name, waiting=len(waiting), error=repr(error))


def anchor_line(anchor: Anchor) -> bytes:
    return canonical(anchor.model_dump(mode="json")) + b"\n"


def _is_late(anchor: Anchor, line: bytes) -> bool:
    """Whether another process already kept a newer anchor, which covers this one.

    After an old backup was put back, anchors are newer and yet smaller; those are kept, because they tell.
    """
    try:
        last = understand(Anchor, parse(line)).checkpoint
    except Malformed:
        return False
    return anchor.checkpoint.ts <= last.ts and anchor.checkpoint.size <= last.size


def _last_line(file: BinaryIO) -> tuple[int, bytes]:
    """Where the last whole line ends, and the line."""
    start = max(0, file.seek(0, os.SEEK_END) - _LONGEST_LINE)
    file.seek(start)
    tail = file.read()
    whole = tail[: tail.rfind(b"\n") + 1]
    return start + len(whole), whole[:-1].rpartition(b"\n")[2]
