"""Folders and files as sources."""

import os
import socket
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.directory import DirectorySource, FileSource
from gaby.knowledge.sources.globs import check_glob, chooses
from gaby.knowledge.sources.source import BadSource, SourceUnavailable
from tests.support.knowledge.listing import listing

pytestmark = pytest.mark.promise("K1")


def _is_markdown(name: str, _: str | None) -> bool:
    return name.endswith(".md")


def _write(root: Path, *names: str, text: str = "words") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _folder(root: Path, *, max_bytes: int = 20_000_000, max_files: int = 1000) -> DirectorySource:
    return DirectorySource(root, wanted=_is_markdown, max_bytes=max_bytes, max_files=max_files)


async def test_everything_below_a_folder_is_listed_by_its_path(tmp_path: Path) -> None:
    _write(tmp_path, "start.md", "kubernetes/crash-loops.md", "a b/ü.md")
    found = await listing(_folder(tmp_path))
    assert found.uris == ["a b/ü.md", "kubernetes/crash-loops.md", "start.md"]
    assert found.total == 3
    brought = await found.bring("a b/ü.md")
    assert brought.data == b"words"
    assert brought.link == (tmp_path / "a b" / "ü.md").as_uri()


async def test_what_cannot_be_read_and_what_nobody_wrote_is_left_out(tmp_path: Path) -> None:
    _write(tmp_path, "yes.md", "photo.png", ".hidden.md", ".git/HEAD.md", "web/node_modules/x.md", "a/__pycache__/y.md")
    assert (await listing(_folder(tmp_path))).uris == ["yes.md"]


async def test_files_of_kinds_that_are_not_read_are_counted(tmp_path: Path) -> None:
    _write(tmp_path, "yes.md", "handbook.docx", "a/photo.PNG", "a/other.png", "a/LICENSE-x", ".hidden.docx")
    _write(tmp_path, ".git/objects/pack.idx", "web/node_modules/x.wasm", "drafts/old.docx")
    (tmp_path / "link.docx").symlink_to(tmp_path / "handbook.docx")
    found = (await listing(DirectorySource(tmp_path, wanted=_is_markdown, exclude=("drafts/",)))).skipped
    assert found is not None
    assert (found.count, found.kinds) == (4, {".png": 2, ".docx": 1, "": 1})
    assert found.files == ["a/LICENSE-x", "a/other.png", "a/photo.PNG", "handbook.docx"]


async def test_of_many_skipped_files_some_are_named(tmp_path: Path) -> None:
    _write(tmp_path, *(f"{number}.k{number}" for number in range(50)))
    found = (await listing(_folder(tmp_path))).skipped
    assert found is not None
    assert (found.count, len(found.kinds), len(found.files)) == (50, 20, 20)


async def test_a_fingerprint_changes_with_the_file_and_with_nothing_else(tmp_path: Path) -> None:
    _write(tmp_path, "a.md", "b.md")
    before = (await listing(_folder(tmp_path))).known()
    assert (await listing(_folder(tmp_path))).known() == before
    _write(tmp_path, "a.md", text="other words")
    after = (await listing(_folder(tmp_path))).known()
    assert after["a.md"] != before["a.md"]
    assert after["b.md"] == before["b.md"]


async def test_a_file_that_is_replaced_by_one_of_the_same_size_and_time_is_noticed(tmp_path: Path) -> None:
    _write(tmp_path, "a.md", text="one")
    status = (tmp_path / "a.md").stat()
    before = (await listing(_folder(tmp_path))).known()
    _write(tmp_path, "beside.txt", text="two")
    os.utime(tmp_path / "beside.txt", ns=(status.st_atime_ns, status.st_mtime_ns))
    (tmp_path / "beside.txt").replace(tmp_path / "a.md")
    assert (await listing(_folder(tmp_path))).known() != before


async def test_patterns_choose_among_the_files(tmp_path: Path) -> None:
    _write(tmp_path, "docs/a.md", "docs/deep/b.md", "drafts/c.md", "d.md", "docs/secret.md")
    chosen = DirectorySource(tmp_path, wanted=_is_markdown, include=("docs/**", "d.md"), exclude=("secret.*",))
    assert (await listing(chosen)).uris == ["d.md", "docs/a.md", "docs/deep/b.md"]


async def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    _write(tmp_path / "outside", "secret.md", "folder/more.md")
    _write(tmp_path / "in", "ordinary.md")
    (tmp_path / "in" / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (tmp_path / "in" / "up").symlink_to("../outside")
    (tmp_path / "in" / "whole.md").symlink_to("/")
    (tmp_path / "in" / "broken.md").symlink_to("nothing.md")
    found = await listing(_folder(tmp_path / "in"))
    assert found.uris == ["ordinary.md"]
    assert "not followed" in found.failed["link.md"].reason


async def test_a_link_inside_is_followed_once_and_cycles_end(tmp_path: Path) -> None:
    _write(tmp_path, "real/a.md", ".versions/3/manual.md")
    (tmp_path / "again").symlink_to("real")
    (tmp_path / "real" / "round").symlink_to("..")
    (tmp_path / "real" / "self").symlink_to("self")
    (tmp_path / "current").symlink_to(".versions/3")
    assert (await listing(_folder(tmp_path))).uris == ["current/manual.md", "real/a.md"]


async def test_files_that_a_cluster_mounts_behind_two_links_are_found(tmp_path: Path) -> None:
    _write(tmp_path, "..2030_01/runbook.md")
    (tmp_path / "..data").symlink_to("..2030_01")
    (tmp_path / "runbook.md").symlink_to("..data/runbook.md")
    found = await listing(_folder(tmp_path))
    assert found.uris == ["runbook.md"]
    assert await found.text("runbook.md") == "words"


async def test_pipes_and_sockets_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.md"))
        found = await listing(_folder(tmp_path))
    assert found.uris == []
    assert found.failed == {}


async def test_a_file_that_becomes_a_pipe_or_a_link_before_it_is_read_is_not_read(tmp_path: Path) -> None:
    _write(tmp_path, "in/a.md", "in/b.md", "in/c/d.md", "in/gone.md", "outside/d.md")
    found = await listing(_folder(tmp_path / "in"))
    for name in ("a.md", "b.md", "gone.md", "c/d.md"):
        (tmp_path / "in" / name).unlink()
    os.mkfifo(tmp_path / "in" / "a.md")
    (tmp_path / "in" / "b.md").symlink_to(tmp_path / "outside" / "d.md")
    (tmp_path / "in" / "c").rmdir()
    (tmp_path / "in" / "c").symlink_to(tmp_path / "outside")
    for name in ("a.md", "b.md", "gone.md", "c/d.md"):
        with pytest.raises(Unreadable):
            await found.bring(name)


async def test_a_file_that_is_too_large_is_named_and_not_read(tmp_path: Path) -> None:
    _write(tmp_path, "small.md")
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(200_000_000)
    found = await listing(_folder(tmp_path))
    assert found.uris == ["small.md"]
    assert "200.0 MB" in found.failed["huge.md"].reason


async def test_a_file_that_grows_past_the_limit_meanwhile_is_not_read(tmp_path: Path) -> None:
    _write(tmp_path, "a.md", text="12345")
    found = await listing(_folder(tmp_path, max_bytes=10))
    _write(tmp_path, "a.md", text="1" * 50)
    with pytest.raises(Unreadable, match="more than"):
        await found.bring("a.md")


@contextmanager
def _somebody_without_rights() -> Generator[None]:
    """As root every file can be read, so another account is taken for a moment."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.fixture
def locked() -> Generator[Path]:
    """Not below `tmp_path`, which other accounts cannot enter."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        _write(root, "open.md", "closed.md", "locked/inner.md")
        (root / "closed.md").chmod(0)
        (root / "locked").chmod(0)
        yield root
        (root / "locked").chmod(0o755)


async def test_what_gaby_may_not_read_is_named_with_the_reason(locked: Path) -> None:
    with _somebody_without_rights():
        found = await listing(_folder(locked))
    assert found.uris == ["open.md"]
    assert set(found.failed) == {"closed.md", "locked"}
    assert all("may not read" in failed.reason for failed in found.failed.values())


async def test_a_folder_that_is_not_there_is_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="Is its disk there"):
        await listing(_folder(tmp_path / "unmounted"))


async def test_a_folder_with_more_files_than_allowed_is_refused_and_not_cut(tmp_path: Path) -> None:
    _write(tmp_path, *(f"{number}.md" for number in range(12)))
    with pytest.raises(SourceUnavailable, match="more than 10 files"):
        await listing(_folder(tmp_path, max_files=10))


async def test_names_that_cannot_be_shown_are_named_as_far_as_they_can(tmp_path: Path) -> None:
    _write(tmp_path, "ok.md")
    for name in (b"caf\xe9.md", b"two\nlines.md"):
        descriptor = os.open(os.fsencode(tmp_path) + b"/" + name, os.O_CREAT | os.O_WRONLY)
        os.close(descriptor)
    found = await listing(_folder(tmp_path))
    assert found.uris == ["ok.md"]
    assert all("Rename" in failed.reason for failed in found.failed.values())
    assert all(uri.isprintable() and uri.encode() for uri in found.failed)
    assert len(found.failed) == 2


async def test_one_file_is_listed_by_its_name_and_leaves_when_it_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "handbook.md"
    path.write_text("words")
    found = await listing(FileSource(path))
    assert await found.text("handbook.md") == "words"
    path.unlink()
    gone = await listing(FileSource(path))
    assert gone.uris == []
    assert gone.total == 0


async def test_one_file_on_a_disk_that_is_gone_is_not_taken_for_deleted(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable):
        await listing(FileSource(tmp_path / "mount" / "handbook.md"))


async def test_one_file_that_is_none_or_is_too_large_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "no ordinary file" in (await listing(FileSource(tmp_path / "pipe"))).failed["pipe"].reason
    _write(tmp_path, "big.md", text="x" * 100)
    assert (await listing(FileSource(tmp_path / "big.md", max_bytes=10))).failed


@pytest.mark.parametrize(
    ("glob", "path", "meant"),
    [
        ("*.md", "a/b.md", True),
        ("docs/*.md", "docs/a/b.md", False),
        ("docs/**/*.md", "docs/b.md", True),
        ("docs/**/*.md", "docs/x/y/b.md", True),
        ("docs/", "docs/a.md", True),
        ("docs", "docs/a.md", True),
        ("docs", "docs2/a.md", False),
        ("/docs/*", "docs/a", True),
        ("a?.md", "ab.md", True),
        ("[x].md", "x.md", False),
    ],
)
def test_a_pattern_means_what_it_means_elsewhere(glob: str, path: str, meant: bool) -> None:
    assert chooses([glob], [])(path) is meant
    assert chooses([], [glob])(path) is not meant


@pytest.mark.parametrize("glob", ["", "*" * 20, "x" * 300])
def test_a_pattern_that_cannot_be_meant_is_refused(glob: str) -> None:
    with pytest.raises(BadSource, match="no pattern"):
        check_glob(glob)


@given(st.text(min_size=1, max_size=60).filter(lambda glob: glob.count("*") <= 8), st.text(max_size=300))
def test_no_pattern_and_no_path_break_the_choice(glob: str, path: str) -> None:
    assert chooses([glob], [])(path) in {True, False}
