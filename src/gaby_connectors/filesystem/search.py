"""Looks for a text in many files, within bounds."""

from typing import NamedTuple

from pydantic import BaseModel

from gaby_connectors.filesystem.root import RootFolder
from gaby_connectors.sdk.errors import ToolError

MOST_FILES = 5_000
MOST_BYTES = 64 * 1024 * 1024
LARGEST_FILE = 4 * 1024 * 1024
_LONGEST_LINE = 400


class Hit(BaseModel):
    path: str
    line: int
    text: str


class FileSearchResult(NamedTuple):
    hits: list[Hit]
    files: int
    complete: bool


def search(root: RootFolder, text: str, path: str, limit: int) -> FileSearchResult:
    hits: list[Hit] = []
    files = read = 0
    for below in root.traverse(path):
        if files >= MOST_FILES or read >= MOST_BYTES:
            return FileSearchResult(hits, files, complete=False)
        content = _content(root, below)
        files += 1
        read += len(content)
        for number, line in enumerate(content.splitlines(), start=1):
            if text.lower() in line.lower():
                hits.append(Hit(path=below, line=number, text=line[:_LONGEST_LINE]))
                if len(hits) >= limit:
                    return FileSearchResult(hits, files, complete=False)
    return FileSearchResult(hits, files, complete=True)


def _content(root: RootFolder, path: str) -> str:
    """The text of a file; nothing if it cannot be read, is too large or is no text."""
    try:
        with root.file(path) as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ToolError):
        return ""
    return "" if b"\0" in content or len(content) > LARGEST_FILE else content.decode("utf-8", "replace")
