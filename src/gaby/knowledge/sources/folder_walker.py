"""Lists a folder: every file once, no link out of it, nothing opened."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gaby.knowledge.sources.source import FailedItem, SourceUnavailable

JUNK = frozenset({"node_modules", "__pycache__", "site-packages", "CVS"})
"""Folders that hold nothing a person wrote. Those that begin with a dot are left out as well."""

_JUNK_OR_GIT = JUNK | {".git"}

_OUTSIDE = "It is a link that leads out of the folder, which is not followed. Copy what it points to into the folder."
_NOT_ALLOWED = "Gaby may not read it. Give the account that Gaby runs under the permission to read."
_BAD_NAME = "Its name has characters that cannot be shown. Rename it."


@dataclass(frozen=True)
class FoundFile:
    uri: str
    real: str
    """Where it really is, below the folder, without links on the way."""
    size: int
    fingerprint: str


@dataclass(frozen=True)
class _Folder:
    uri: str
    real: str


class FolderWalker:
    def __init__(
        self, root: str, wanted: Callable[[str], bool], most: int, unwanted: Callable[[str], None] | None = None
    ) -> None:
        """`root` is a real path. `wanted` says of a path whether it is looked for; `unwanted` is told of the others."""
        self._root = root
        self._wanted = wanted
        self._most = most
        self._unwanted = unwanted
        self._items: list[FoundFile | FailedItem] = []
        self._folders = [_Folder("", "")]
        self._links: list[_Folder] = []
        self._seen: set[tuple[int, int]] = set()

    def list_files(self) -> list[FoundFile | FailedItem]:
        """Sorted. Raises `SourceUnavailable` when it would not be complete."""
        while self._folders or self._links:
            # Links come last, so that what has a place of its own is found there.
            if self._folders:
                self._enter(self._folders.pop())
            else:
                self._follow(self._links.pop())
        return sorted(self._items, key=lambda each: each.uri)

    def _enter(self, folder: _Folder) -> None:
        path = Path(self._root, folder.real)
        try:
            self._seen.add(_identity(path.stat()))
            with os.scandir(path) as entries:
                for entry in entries:
                    self._consider(folder, entry)
        except FileNotFoundError:
            if not folder.uri:
                raise SourceUnavailable(f"There is no folder {self._root} at the moment. Is its disk there?") from None
        except PermissionError:
            if not folder.uri:
                raise SourceUnavailable(f"Gaby may not read the folder {self._root}.") from None
            self._items.append(FailedItem(printable_path(folder.uri), _NOT_ALLOWED))
        except OSError as error:
            raise SourceUnavailable(f"The folder cannot be read: {error.strerror}.") from error

    def _consider(self, folder: _Folder, entry: os.DirEntry[str]) -> None:
        if entry.name.startswith("."):
            return
        here = _Folder(_below(folder.uri, entry.name), _below(folder.real, entry.name))
        if entry.is_symlink():
            self._links.append(here)
        elif entry.is_dir(follow_symlinks=False):
            if entry.name not in JUNK:
                self._folders.append(here)
        elif entry.is_file(follow_symlinks=False):
            if self._wanted(here.uri):
                self._take(here, entry.stat(follow_symlinks=False))
            elif self._unwanted is not None:
                self._unwanted(printable_path(here.uri))

    def _follow(self, link: _Folder) -> None:
        """To what it points to, if that is inside, and was not found already."""
        real = os.path.realpath(Path(self._root, link.real))
        if not real.startswith(self._root.rstrip("/") + "/"):
            if real != self._root and self._wanted(link.uri):
                self._items.append(FailedItem(printable_path(link.uri), _OUTSIDE))
            return
        try:
            status = Path(real).lstat()
        except OSError:
            return
        below = real[len(self._root.rstrip("/")) + 1 :]
        if _identity(status) in self._seen or not _JUNK_OR_GIT.isdisjoint(PurePosixPath(below).parts):
            return
        if stat.S_ISDIR(status.st_mode):
            self._folders.append(_Folder(link.uri, below))
        elif stat.S_ISREG(status.st_mode) and self._wanted(link.uri):
            self._take(_Folder(link.uri, below), status)

    def _take(self, here: _Folder, status: os.stat_result) -> None:
        self._seen.add(_identity(status))
        if len(self._items) >= self._most:
            raise SourceUnavailable(
                f"There are more than {self._most} files. Name a smaller folder, or say with `include` which are meant."
            )
        if not here.uri.isprintable() or here.uri != printable_path(here.uri):
            self._items.append(FailedItem(printable_path(here.uri), _BAD_NAME))
        elif not os.access(f"{self._root}/{here.real}", os.R_OK, effective_ids=True):
            self._items.append(FailedItem(here.uri, _NOT_ALLOWED))
        else:
            self._items.append(FoundFile(here.uri, here.real, status.st_size, fingerprint(status)))


def fingerprint(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"


def open_beneath(root: str, real: str) -> int:
    """Every step is opened from the folder before it and no link is followed, so a swapped folder leads nowhere."""
    *folders, name = real.split("/")
    # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    ordinary = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, ordinary, dir_fd=at)
    finally:
        os.close(at)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def printable_path(uri: str) -> str:
    """As far as it can be written in UTF-8 on one line."""
    text = uri.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "�" for character in text)
