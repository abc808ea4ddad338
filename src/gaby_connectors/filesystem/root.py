"""One folder of the disk, and no way out of it.

Every step of a path is opened from the folder before it and symbolic links are not followed, so neither `..` nor a link
nor a folder that is swapped in the meantime leads outside.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from gaby_connectors.filesystem.config import FilesystemConfig
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError, denied, invalid
from gaby_connectors.sdk.manifest import ErrorKind

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOT_ORDINARY = "This is no ordinary file: folders, devices, pipes and sockets are not read."
_MEANING = {
    errno.ENOENT: (ErrorKind.NOT_FOUND, "There is no such file or folder."),
    errno.EEXIST: (ErrorKind.CONFLICT, "There is a file of that name already."),
    errno.EACCES: (ErrorKind.DENIED, "The connector's user may not do that with this file."),
    errno.EPERM: (ErrorKind.DENIED, "The connector's user may not do that with this file."),
    errno.ENOTDIR: (ErrorKind.INVALID, "Bad arguments: `path` goes through a link or a file."),
    errno.EISDIR: (ErrorKind.INVALID, "Bad arguments: `path` is a folder, not a file."),
    errno.ELOOP: (ErrorKind.DENIED, "This is a symbolic link; links are not followed."),
    errno.ENAMETOOLONG: (ErrorKind.INVALID, "Bad arguments: `path` is too long."),
    errno.ENXIO: (ErrorKind.DENIED, _NOT_ORDINARY),
}


class FileInfo(NamedTuple):
    name: str
    kind: str
    size: int
    changed_at: str


class RootFolder(Backend):
    config: FilesystemConfig

    @property
    def _path(self) -> Path:
        return self.config.root

    @contextmanager
    def folder(self, path: str) -> Generator[int]:
        """A folder below the root, as an open descriptor."""
        here = os.open(self._path, _FOLDER)
        try:
            for part in parts(path):
                below = os.open(part, _FOLDER, dir_fd=here)
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)

    @contextmanager
    def file(self, path: str) -> Generator[FileIO]:
        """A regular file, open for reading. Links, devices, pipes and sockets are refused."""
        *above, name = parts(path) or [""]
        if not name:
            raise invalid("Bad arguments: `path` is a folder, not a file.")
        with self.folder("/".join(above)) as folder, FileIO(os.open(name, _FILE, dir_fd=folder)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise denied(_NOT_ORDINARY)
            yield file

    def stat(self, path: str) -> FileInfo:
        *above, name = parts(path) or ["."]
        with self.folder("/".join(above)) as folder:
            return _kind(name, os.stat(name, dir_fd=folder, follow_symlinks=False))

    def list(self, path: str) -> list[FileInfo]:
        with self.folder(path) as folder, os.scandir(folder) as entries:
            return sorted(_kind(entry.name, entry.stat(follow_symlinks=False)) for entry in entries)

    def traverse(self, path: str) -> Iterator[str]:
        """The paths of all files below a folder, links left out."""
        for entry in self.list(path):
            below = f"{path}/{entry.name}".lstrip("/")
            if entry.kind == "folder":
                yield from self.traverse(below)
            elif entry.kind == "file":
                yield below

    def write(self, path: str, content: bytes, *, overwrite: bool) -> None:
        """The whole file or nothing: it is written beside and then put in its place."""
        *above, name = parts(path)
        with self.folder("/".join(above)) as folder:
            temporary = f".{name[:80]}.{uuid4().hex}"
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
            try:
                with FileIO(descriptor, "w") as file:
                    file.write(content)
                    os.fsync(file.fileno())
                if overwrite:
                    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
                else:
                    os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
                    os.unlink(temporary, dir_fd=folder)
            except BaseException:
                _forget(temporary, folder)
                raise

    def delete(self, path: str) -> None:
        *above, name = parts(path)
        with self.folder("/".join(above)) as folder:
            os.unlink(name, dir_fd=folder)

    async def check(self) -> str:
        return f"The folder is there, with {len(self.list(''))} entries."

    def explain(self, error: Exception) -> Exception:
        meaning = _MEANING.get(error.errno or 0) if isinstance(error, OSError) else None
        return ToolError(*meaning) if meaning is not None else error


def parts(path: str) -> list[str]:
    """The steps of a path from the root. Only plain steps downwards are allowed."""
    if "\0" in path:
        raise invalid("Bad arguments: `path` holds a NUL.")
    if path.startswith(("/", "~")):
        raise invalid("Bad arguments: `path` must be relative to the root folder.")
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if ".." in steps:
        raise denied("`..` is not allowed: only what is below the root folder may be seen.")
    return steps


def _kind(name: str, status: os.stat_result) -> FileInfo:
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return FileInfo(name, kinds.get(stat.S_IFMT(status.st_mode), "special"), status.st_size, changed)


def _forget(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
