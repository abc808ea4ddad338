"""Files below one folder: everything inside can be read, nothing outside."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby_connectors.filesystem.config import FilesystemConfig
from gaby_connectors.filesystem.root import RootFolder
from gaby_connectors.filesystem.tools import PAGE_BYTES, build
from gaby_connectors.sdk.config import load
from gaby_connectors.sdk.errors import NotConfigured, ToolError
from gaby_connectors.sdk.manifest import ErrorKind
from tests.connectors.talk import talking

pytestmark = pytest.mark.promise("M6")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with files, and a secret beside it."""
    (tmp_path / "secret.txt").write_text("outside")
    folder = tmp_path / "root"
    (folder / "reports" / "deep").mkdir(parents=True)
    (folder / "hello.txt").write_text("Hello\nThe printer is on fire\n")
    (folder / "reports" / "may.txt").write_text("nothing\nPRINTER again\n")
    (folder / "reports" / "deep" / "raw.bin").write_bytes(b"printer\0\xff")
    (folder / "out").symlink_to(tmp_path / "secret.txt")
    (folder / "away").symlink_to(tmp_path)
    (folder / "inside").symlink_to(folder / "hello.txt")
    return folder


def config(root: Path, *, writable: bool = False) -> FilesystemConfig:
    return FilesystemConfig(root=root, writable=writable)


async def test_a_folder_is_listed(root: Path) -> None:
    async with talking(build(config(root)), config(root)) as talk:
        listing = await talk.ask("list_folder")
        assert [(entry["name"], entry["kind"]) for entry in listing["entries"]] == [
            ("away", "link"),
            ("hello.txt", "file"),
            ("inside", "link"),
            ("out", "link"),
            ("reports", "folder"),
        ]
        assert [e["name"] for e in (await talk.ask("list_folder", offset=1, limit=1))["entries"]] == ["hello.txt"]


async def test_a_file_is_read_page_by_page(root: Path) -> None:
    text = "".join(f"{number:07}\n" for number in range(10_000))
    (root / "long.txt").write_text(text)
    async with talking(build(config(root)), config(root)) as talk:
        first = await talk.ask("read_file", path="long.txt")
        assert (first["page"], first["pages"], first["size"]) == (1, 3, 80_000)
        pages = [(await talk.ask("read_file", path="long.txt", page=page))["text"] for page in (1, 2, 3)]
        assert len(pages[0]) == PAGE_BYTES
        assert "".join(pages) == text
        assert (await talk.fails("read_file", path="long.txt", page=4)).kind == ErrorKind.INVALID


async def test_text_is_found_below_a_folder_and_links_are_not_followed(root: Path) -> None:
    async with talking(build(config(root)), config(root)) as talk:
        found = await talk.ask("search_text", text="printer")
        assert [(hit["path"], hit["line"]) for hit in found["hits"]] == [("hello.txt", 2), ("reports/may.txt", 2)]
        assert found["complete"] is True
        assert (await talk.ask("search_text", text="outside"))["hits"] == []
        assert (await talk.ask("search_text", text="printer", limit=1))["complete"] is False


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "reports/../../secret.txt",
        "/etc/passwd",
        "~/secret",
        "out",
        "away/secret.txt",
        "inside",
        "hello.txt\0.png",
        "reports",
        "nothing",
        "hello.txt/more",
        "x" * 900,
    ],
)
async def test_there_is_no_way_out(root: Path, path: str) -> None:
    async with talking(build(config(root)), config(root)) as talk:
        error = await talk.fails("read_file", path=path)
        assert error.kind in (ErrorKind.DENIED, ErrorKind.INVALID, ErrorKind.NOT_FOUND)
        assert "outside" not in error.message


async def test_pipes_sockets_and_devices_are_refused_without_waiting(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(root / "socket"))
        async with talking(build(config(root)), config(root)) as talk:
            for name in ("pipe", "socket"):
                assert (await talk.fails("read_file", path=name)).kind == ErrorKind.DENIED
                assert (await talk.ask("stat", path=name))["kind"] == "special"
            assert (await talk.ask("search_text", text="printer"))["complete"] is True


@given(st.text(alphabet="./~\0a", min_size=1, max_size=12))
def test_no_path_of_dots_and_slashes_opens_anything(path: str) -> None:
    root = RootFolder(FilesystemConfig(root=Path("/usr")))
    with pytest.raises((ToolError, OSError)), root.file(path):
        pass


async def test_a_file_that_is_no_text_is_refused(root: Path) -> None:
    async with talking(build(config(root)), config(root)) as talk:
        assert "not a text file" in (await talk.fails("read_file", path="reports/deep/raw.bin")).message


async def test_nothing_can_be_written_unless_the_operator_says_so(root: Path) -> None:
    async with talking(build(config(root)), config(root)) as talk:
        names = {tool.name for tool in (await talk.client.list_tools()).tools}
        assert names == {"healthcheck", "list_folder", "stat", "read_file", "search_text"}
        assert (await talk.fails("write_file", path="new.txt", text="x")).kind == ErrorKind.NOT_FOUND


async def test_a_file_is_written_whole_and_only_when_meant(root: Path) -> None:
    writable = config(root, writable=True)
    async with talking(build(writable), writable) as talk:
        dry = await talk.ask("write_file", path="reports/june.txt", text="Sun", dry_run=True)
        assert dry == {"path": "reports/june.txt", "size": 3, "replaced": False, "dry_run": True}
        assert not (root / "reports" / "june.txt").exists()
        await talk.ask("write_file", path="reports/june.txt", text="Sun")
        assert (root / "reports" / "june.txt").read_text() == "Sun"
        assert (await talk.fails("write_file", path="reports/june.txt", text="Rain")).kind == ErrorKind.CONFLICT
        assert (await talk.ask("write_file", path="reports/june.txt", text="Rain", overwrite=True))["replaced"] is True
        assert (root / "reports" / "june.txt").read_text() == "Rain"
        assert sorted(path.name for path in (root / "reports").iterdir()) == ["deep", "june.txt", "may.txt"]


@pytest.mark.parametrize("path", ["out", "away/new.txt", "../new.txt", "/tmp/new.txt", "."])
async def test_nothing_is_written_outside(root: Path, path: str) -> None:
    writable = config(root, writable=True)
    async with talking(build(writable), writable) as talk:
        await talk.fails("write_file", path=path, text="x", overwrite=True)
    assert (root.parent / "secret.txt").read_text() == "outside"
    assert sorted(entry.name for entry in root.parent.iterdir()) == ["root", "secret.txt"]


async def test_a_file_is_deleted_and_a_folder_is_not(root: Path) -> None:
    writable = config(root, writable=True)
    async with talking(build(writable), writable) as talk:
        assert (await talk.manifest("delete_file")).dangerous
        await talk.ask("delete_file", path="hello.txt", dry_run=True)
        assert (root / "hello.txt").exists()
        await talk.ask("delete_file", path="hello.txt")
        assert not (root / "hello.txt").exists()
        for path in ("reports", "out"):
            assert (await talk.fails("delete_file", path=path)).kind == ErrorKind.INVALID


@pytest.mark.parametrize("folder", ["relative", "/no/such/folder"])
def test_a_root_that_is_no_folder_is_refused(folder: str) -> None:
    with pytest.raises(NotConfigured, match="FILESYSTEM_ROOT"):
        load(FilesystemConfig, {"FILESYSTEM_ROOT": folder})
