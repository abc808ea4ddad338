"""What a source of documents is to whoever syncs it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gaby.kernel.errors import GabyError, Invalid
from gaby.knowledge.documents import RawDocument


class SourceUnavailable(GabyError):
    """The source cannot be reached at the moment. What is indexed stays; the next sync tries again."""

    status = 503


class BadSource(Invalid):
    """This cannot be a source of documents."""


@dataclass(frozen=True)
class SourceItem:
    """A document that is there. It is fetched only when its fingerprint is another than last time."""

    uri: str
    fingerprint: str
    """Cheap to get, and different whenever the content may be."""
    fetch: Callable[[], Awaitable[RawDocument]]
    """Raises `Unreadable` with the reason, or `SourceUnavailable` when only this moment is bad."""
    cursor: str | None = None
    """Where a sync that is interrupted after this document goes on. None begins anew, where listing is cheap."""
    read: Callable[[], RawDocument] | None = None
    """The same as `fetch` for what is on this machine. It blocks, for whoever is in a thread already: handing over each
    of many short files to one costs more than reading them."""


@dataclass(frozen=True)
class FailedItem:
    """A document that is there and cannot be had."""

    uri: str
    reason: str
    passing: bool = False
    """Whether it may work next time, so that what is indexed of it stays meanwhile."""
    cursor: str | None = None


@dataclass(frozen=True)
class SourceTotal:
    """How many documents there will be, as soon as that is known, for the progress bar. May be said again."""

    documents: int


@dataclass(frozen=True)
class SkippedItems:
    """Files that are there and of kinds that are not read. Hidden ones, and those that an operator left out, do not
    count."""

    count: int
    kinds: Mapping[str, int]
    """How many there are of each kind, the most frequent first. Not every kind, when there are many."""
    files: Sequence[str]
    """Some of them."""


Listed = SourceItem | FailedItem | SourceTotal | SkippedItems


class DocumentSource(Protocol):
    def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        """Every document once. `known` has the fingerprint of each that is indexed.

        Ends normally only when the listing was complete, since whatever it did not name is then removed. A source that
        breaks off raises `SourceUnavailable`.
        """
        ...

    async def close(self) -> None: ...
