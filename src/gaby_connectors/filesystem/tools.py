"""The tools of the filesystem connector."""

import asyncio
from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.filesystem.config import FilesystemConfig
from gaby_connectors.filesystem.root import RootFolder, parts
from gaby_connectors.filesystem.search import Hit, search
from gaby_connectors.sdk.connector import Connector, Toolset
from gaby_connectors.sdk.errors import conflict, invalid
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.sdk.tool import WriteCall

PAGE_BYTES = 32_000
Path = Annotated[
    str, Field(max_length=1000, description="A path below the root folder, such as reports/may.txt.", examples=[""])
]
FilePath = Annotated[
    str, Field(min_length=1, max_length=1000, description="A file below the root folder, such as reports/may.txt.")
]


class Entry(BaseModel):
    name: str
    kind: str
    size: int
    changed_at: str


class DirectoryListing(BaseModel):
    path: str
    entries: list[Entry]
    total: int


class FilePage(BaseModel):
    path: str
    page: int
    pages: int
    size: int
    text: str


class FileMatches(BaseModel):
    hits: list[Hit]
    files_searched: int
    complete: bool


class WrittenFile(BaseModel):
    path: str
    size: int
    replaced: bool


class DeletedFile(BaseModel):
    path: str
    size: int


connector = Connector(
    "filesystem",
    version="1.0.0",
    instructions="Files below one folder. Paths are relative to it; begin with list_folder or search_text.",
    config=FilesystemConfig,
    backend=RootFolder,
)
writes = Toolset()
_SIZES = {"entries[].size": ResultLabel.SYSTEM, "entries[].kind": ResultLabel.SYSTEM, "total": ResultLabel.SYSTEM}


@connector.tool(
    ToolManifest(scope="read", path="files/list", lookups=("path",), results=_SIZES),
    more="Ask again with a larger `offset`.",
)
async def list_folder(
    root: RootFolder,
    path: Path = "",
    offset: Annotated[int, Field(ge=0, description="How many entries to skip.")] = 0,
    limit: Annotated[int, Field(ge=1, le=1000, description="How many entries to give at most.")] = 200,
) -> DirectoryListing:
    """List a folder: files, folders and links with size and time of the last change."""
    entries = await asyncio.to_thread(root.list, path)
    shown = [Entry(**entry._asdict()) for entry in entries[offset : offset + limit]]
    return DirectoryListing(path=path, entries=shown, total=len(entries))


@connector.tool(
    ToolManifest(scope="read", path="files/stat", lookups=("path",), results={"kind": ResultLabel.SYSTEM}),
)
async def stat(root: RootFolder, path: Path) -> Entry:
    """Tell whether a path is a file, a folder or a link, how large it is and when it was changed."""
    info = await asyncio.to_thread(root.stat, path)
    return Entry(**info._asdict())


@connector.tool(
    ToolManifest(scope="read", path="files/read", lookups=("path",)), more="Ask for the next page with `page`."
)
async def read_file(
    root: RootFolder, path: FilePath, page: Annotated[int, Field(ge=1, description="Which page, from 1.")] = 1
) -> FilePage:
    """Read a text file, one page of about 32 KB at a time."""
    return await asyncio.to_thread(_read, root, path, page)


@connector.tool(
    ToolManifest(scope="read", path="files/search", lookups=("path",)), more="Search in a folder further down."
)
async def search_text(
    root: RootFolder,
    text: Annotated[str, Field(min_length=2, max_length=200, description="What to look for; case does not matter.")],
    path: Path = "",
    limit: Annotated[int, Field(ge=1, le=200, description="How many lines to give at most.")] = 50,
) -> FileMatches:
    """Find lines that hold a text, in all text files below a folder."""
    matches = await asyncio.to_thread(search, root, text, path, limit)
    return FileMatches(hits=matches.hits, files_searched=matches.files, complete=matches.complete)


@writes.tool(
    ToolManifest(
        scope="write",
        path="files/write",
        steering=("path", "overwrite"),
        content=("text",),
        lookups=(),
        supports_dry_run=True,
        idempotent=True,
    )
)
async def write_file(
    root: RootFolder,
    path: FilePath,
    text: Annotated[str, Field(max_length=1_000_000, description="The whole content of the file.")],
    call: WriteCall,
    *,
    overwrite: Annotated[bool, Field(description="Whether a file that is there may be replaced.")] = False,
) -> WrittenFile:
    """Write a text file. The folder must be there already."""
    there = _regular(root, path)
    if there and not overwrite:
        raise conflict("There is a file of that name already. Say `overwrite` to replace it.")
    content = text.encode("utf-8", "replace")
    if not call.dry_run:
        await asyncio.to_thread(root.write, path, content, overwrite=overwrite)
    return WrittenFile(path=path, size=len(content), replaced=there)


@writes.tool(
    ToolManifest(
        scope="write",
        path="files/delete",
        dangerous=True,
        steering=("path",),
        supports_dry_run=True,
        idempotent=True,
    )
)
async def delete_file(root: RootFolder, path: FilePath, call: WriteCall) -> DeletedFile:
    """Delete one file for good. Folders are not deleted."""
    info = root.stat(path)
    if info.kind != "file":
        raise invalid(f"Bad arguments: `path` is a {info.kind}; only files are deleted.")
    if not call.dry_run:
        await asyncio.to_thread(root.delete, path)
    return DeletedFile(path=path, size=info.size)


def build(config: FilesystemConfig) -> Connector:
    """Only with `writable` does the connector have tools that change anything."""
    return connector.plus(writes) if config.writable else connector


def _read(root: RootFolder, path: str, page: int) -> FilePage:
    with root.file(path) as file:
        size = file.seek(0, 2)
        pages = max(1, -(-size // PAGE_BYTES))
        if page > pages:
            raise invalid(f"Bad arguments: `page`: the file has {pages} pages.")
        file.seek((page - 1) * PAGE_BYTES)
        content = file.read(PAGE_BYTES)
    if b"\0" in content:
        raise invalid("This is not a text file.")
    return FilePage(path=path, page=page, pages=pages, size=size, text=content.decode("utf-8", "replace"))


def _regular(root: RootFolder, path: str) -> bool:
    """Whether there is a file; anything else of that name is not to be touched."""
    if not parts(path):
        raise invalid("Bad arguments: `path` is the root folder.")
    try:
        info = root.stat(path)
    except FileNotFoundError:
        return False
    if info.kind != "file":
        raise conflict(f"There is a {info.kind} of that name.")
    return True
