"""A folder with everything below it, or one file."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote_from_bytes

from gaby.knowledge.documents import RawDocument, Unreadable
from gaby.knowledge.sources.folder_walker import FolderWalker, FoundFile, fingerprint, open_beneath
from gaby.knowledge.sources.globs import chooses
from gaby.knowledge.sources.limits import PathFilter, Wanted, as_size
from gaby.knowledge.sources.skipped_files import SkippedFiles
from gaby.knowledge.sources.source import FailedItem, Listed, SkippedItems, SourceItem, SourceTotal, SourceUnavailable


class DirectorySource:
    """A file that changes between listing and reading is read as it is then; the next listing shows the change."""

    def __init__(
        self,
        root: Path,
        *,
        wanted: Wanted,
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
        max_bytes: int = 20_000_000,
        max_files: int = 200_000,
    ) -> None:
        self._root = root
        self._paths = PathFilter(chooses(include, exclude), wanted)
        self._max_bytes = max_bytes
        self._max_files = max_files

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        root, files, skipped = await asyncio.to_thread(self._list_files)
        yield SourceTotal(len(files))
        yield skipped
        for each in files:
            yield each if isinstance(each, FailedItem) else self._item(root, each)

    async def close(self) -> None:
        pass

    def _list_files(self) -> tuple[str, Sequence[FoundFile | FailedItem], SkippedItems]:
        root, skipped = os.path.realpath(self._root), SkippedFiles()

        def unwanted(uri: str) -> None:
            if self._paths.skips(uri):
                skipped.add(uri)

        files = FolderWalker(root, self._paths.reads, self._max_files, unwanted).list_files()
        return root, files, skipped.summary()

    def _item(self, root: str, file: FoundFile) -> SourceItem | FailedItem:
        if file.size > self._max_bytes:
            return FailedItem(file.uri, too_large(file.size, self._max_bytes))
        reading = partial(_read, root, file.real, file.uri, f"{root.rstrip('/')}/{file.uri}", self._max_bytes)
        return SourceItem(file.uri, file.fingerprint, partial(asyncio.to_thread, reading), read=reading)


class FileSource:
    """A single file, listed by its name."""

    def __init__(self, path: Path, *, max_bytes: int = 20_000_000) -> None:
        self._path = path
        self._max_bytes = max_bytes

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        real = Path(await asyncio.to_thread(os.path.realpath, self._path))
        name = self._path.name
        try:
            status = await asyncio.to_thread(os.stat, real)
        except FileNotFoundError:
            # The folder tells a deleted file from a disk that is not there.
            if await asyncio.to_thread(real.parent.is_dir):
                yield SourceTotal(0)
                return
            raise SourceUnavailable(f"There is no folder {real.parent} at the moment. Is its disk there?") from None
        except OSError as error:
            raise SourceUnavailable(f"{self._path} cannot be read: {error.strerror}.") from error
        yield SourceTotal(1)
        if not stat.S_ISREG(status.st_mode):
            yield FailedItem(name, "It is no ordinary file.")
        elif status.st_size > self._max_bytes:
            yield FailedItem(name, too_large(status.st_size, self._max_bytes))
        else:
            reading = partial(_read, str(real.parent), real.name, name, str(self._path.absolute()), self._max_bytes)
            yield SourceItem(name, fingerprint(status), partial(asyncio.to_thread, reading), read=reading)

    async def close(self) -> None:
        pass


def too_large(size: int, most: int) -> str:
    return (
        f"It has {as_size(size)}, and documents of more than {as_size(most)} are not read. Split it, or leave it out."
    )


def _read(root: str, real: str, uri: str, shown: str, most: int) -> RawDocument:
    try:
        descriptor = open_beneath(root, real)
    except FileNotFoundError:
        raise Unreadable("It is no longer there.") from None
    except PermissionError:
        raise Unreadable(
            "Gaby may not read it. Give the account that Gaby runs under the permission to read."
        ) from None
    except OSError as error:
        raise Unreadable(f"It cannot be opened: {error.strerror}.") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("It is no ordinary file any more.")
        data = _content(descriptor, status.st_size, most)
    except OSError as error:
        raise SourceUnavailable(f"It cannot be read at the moment: {error.strerror}.") from error
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise Unreadable(too_large(len(data), most))
    return RawDocument(uri, data, link=f"file://{quote_from_bytes(os.fsencode(shown))}")


def _content(descriptor: int, expected: int, most: int) -> bytes:
    """All of it, or a little more than `most`. It may have grown or shrunk a moment ago."""
    data = os.read(descriptor, min(expected, most) + 1)
    while len(data) != expected and len(data) <= most and (more := os.read(descriptor, most + 1 - len(data))):
        data += more
    return data
