"""How much a source may bring, and which documents are looked at."""

from collections.abc import Callable
from dataclasses import dataclass

Wanted = Callable[[str, str | None], bool]
"""Whether a document with this name, and this media type if one is known, can be read."""


@dataclass(frozen=True)
class SourceLimits:
    document_bytes: int = 20_000_000
    files: int = 200_000
    export_bytes: int = 500_000_000
    pages: int = 500
    """Of a website, unless its source says otherwise."""
    depth: int = 6
    request_seconds: float = 20.0
    """For a server that says nothing."""
    document_seconds: float = 120.0
    """For one that says little at a time."""
    git_seconds: float = 900.0
    pause_seconds: float = 0.5
    """Between two requests to the same website."""


@dataclass(frozen=True)
class PathFilter:
    """Which files of a folder or a repository are read, by their paths."""

    chosen: Callable[[str], bool]
    """Whether the operator means it."""
    wanted: Wanted

    def reads(self, path: str) -> bool:
        return self.chosen(path) and self.wanted(path, None)

    def skips(self, path: str) -> bool:
        """Whether the operator means it, and it is of a kind that is not read."""
        return self.chosen(path) and not self.wanted(path, None)


def as_size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{max(1, count // 1000)} kB"
