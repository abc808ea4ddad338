"""Remembers where the pages of a website linked to, for those that answer that nothing changed."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import orjson

_MOST_LINKS = 500
_MOST_BYTES = 64_000_000


class LinkCache:
    """A file in the cache. Without it, or when it is broken, pages are simply fetched again."""

    def __init__(self, cache: Path, start: str) -> None:
        self._path = cache / f"site-{sha256(start.encode()).hexdigest()[:24]}.json"
        self._before: dict[str, tuple[str, list[str]]] = {}
        self._now: dict[str, tuple[str, list[str]]] = {}

    async def load(self) -> None:
        self._before = await asyncio.to_thread(self._read)
        self._now = {}

    async def save(self) -> None:
        await asyncio.to_thread(self._write, orjson.dumps(self._now))

    def links(self, uri: str, fingerprint: str | None = None) -> Sequence[str] | None:
        """Of the page as it was when it had this fingerprint, or when it was last seen."""
        entry = self._before.get(uri)
        if entry is None or (fingerprint is not None and entry[0] != fingerprint):
            return None
        return entry[1]

    def put(self, uri: str, fingerprint: str, links: Sequence[str]) -> None:
        self._now[uri] = (fingerprint, list(links[:_MOST_LINKS]))

    def keep_as_it_was(self, uri: str) -> None:
        if uri in self._before:
            self._now[uri] = self._before[uri]

    def _read(self) -> dict[str, tuple[str, list[str]]]:
        try:
            if self._path.stat().st_size > _MOST_BYTES:
                return {}
            loaded = cast("dict[str, Any]", orjson.loads(self._path.read_bytes()))
            return {
                str(uri): (str(fingerprint), [str(link) for link in links])
                for uri, (fingerprint, links) in loaded.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self, data: bytes) -> None:
        # A cache that cannot be written costs only time.
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_suffix(f".{os.getpid()}.new")
            temporary.write_bytes(data)
            temporary.replace(self._path)
