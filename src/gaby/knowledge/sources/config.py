"""What an operator says of a source, and what the installation gives it to work with."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from gaby.knowledge.parsers.kinds import kind_of
from gaby.knowledge.sources.generated_documents import Documents
from gaby.knowledge.sources.guard import Resolve, system_resolve
from gaby.knowledge.sources.limits import SourceLimits, Wanted
from gaby.knowledge.sources.tickets import TicketArchive

Kind = Literal["folder", "file", "git", "url", "site", "confluence", "notion", "tickets", "learned"]


def can_be_read(name: str, media_type: str | None) -> bool:
    return kind_of(name, media_type) is not None


@dataclass(frozen=True)
class SourceConfig:
    kind: Kind
    location: str
    """A path, a URL, or for tickets of the desk itself `desk`. For `learned` it is empty."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class SourceDependencies:
    cache: Path
    """A folder that Gaby keeps for itself: clones, and the links of websites. It may be deleted at any time."""
    wanted: Wanted = can_be_read
    """Which documents are looked at, by name and media type."""
    allowed_networks: tuple[str, ...] = ()
    """Networks that are private or special and may be called nevertheless, such as `10.2.0.0/16`."""
    allowed_folders: tuple[Path, ...] | None = None
    """Where folders, files and local repositories may lie. None: anywhere that Gaby may read."""
    limits: SourceLimits = field(default_factory=SourceLimits)
    learned: Documents | None = None
    archive: TicketArchive | None = None
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    resolve: Resolve = system_resolve
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
