"""A repository of git: the files of one commit, read from a bare copy that is kept."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from gaby.knowledge.documents import RawDocument
from gaby.knowledge.sources.directory import too_large
from gaby.knowledge.sources.folder_walker import JUNK, printable_path
from gaby.knowledge.sources.git_address import GitAddress, is_commit
from gaby.knowledge.sources.git_blobs import GitBlobReader
from gaby.knowledge.sources.git_process import GitFailed, GitProcess, environment
from gaby.knowledge.sources.guard import AddressGuard
from gaby.knowledge.sources.limits import PathFilter
from gaby.knowledge.sources.skipped_files import SkippedFiles
from gaby.knowledge.sources.source import (
    BadSource,
    FailedItem,
    Listed,
    SkippedItems,
    SourceItem,
    SourceTotal,
    SourceUnavailable,
)

_HEAD = "refs/gaby/head"
_LINK, _SUBMODULE = "120000", "160000"
_SKIPPED = {
    _LINK: "It is a symbolic link, which is not followed.",
    _SUBMODULE: "It is a submodule. Add its repository as a source of its own.",
}
_NEEDED = (2, 37)
"""Earlier ones cannot be told which address to call."""


@dataclass(frozen=True)
class _TreeEntry:
    mode: str
    blob: str
    size: int
    path: str


class GitSource:
    def __init__(
        self,
        address: GitAddress,
        *,
        guard: AddressGuard,
        cache: Path,
        paths: PathFilter,
        ref: str = "",
        secret: str | None = None,
        max_bytes: int = 20_000_000,
        seconds: float = 900.0,
    ) -> None:
        """Without a `ref` it is what the repository itself calls its head."""
        self._address = address
        self._guard = guard
        self._folder = cache / f"git-{sha256(f'{address.url} {ref}'.encode()).hexdigest()[:24]}"
        self._paths = paths
        self._ref = ref
        self._secret = secret
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._blobs: GitBlobReader | None = None

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        await self.close()
        try:
            git = await self._git()
            commit = await self._updated(git)
            listing = await git.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        except GitFailed as error:
            raise SourceUnavailable(f"The repository cannot be fetched. Git says: {error}") from None
        except BadSource as error:
            raise SourceUnavailable(error.message) from error
        self._blobs = GitBlobReader(git, self._max_bytes)
        visible = [entry for entry in _entries(listing) if not _is_hidden(entry.path)]
        entries = [entry for entry in visible if entry.mode == _SUBMODULE or self._paths.reads(entry.path)]
        yield SourceTotal(len(entries))
        yield self._skipped(visible)
        for entry in entries:
            yield self._listed(entry, commit, self._blobs)

    async def close(self) -> None:
        if self._blobs is not None:
            await self._blobs.close()
            self._blobs = None

    def _skipped(self, entries: Sequence[_TreeEntry]) -> SkippedItems:
        skipped = SkippedFiles()
        for entry in entries:
            if entry.mode not in _SKIPPED and self._paths.skips(entry.path):
                skipped.add(printable_path(entry.path))
        return skipped.summary()

    def _listed(self, entry: _TreeEntry, commit: str, blobs: GitBlobReader) -> SourceItem | FailedItem:
        if entry.mode in _SKIPPED:
            return FailedItem(entry.path, _SKIPPED[entry.mode])
        if entry.size > self._max_bytes:
            return FailedItem(entry.path, too_large(entry.size, self._max_bytes))
        if not entry.path.isprintable():
            return FailedItem(printable_path(entry.path), "Its name cannot be shown.")
        link = self._address.link(commit, entry.path)
        return SourceItem(entry.path, entry.blob, partial(_bring, blobs, entry, link))

    async def _git(self) -> GitProcess:
        pinned = None
        if self._address.transport != "file":
            pinned = (await self._guard.resolve_async(self._address.host, self._address.port))[0]
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        variables = environment(self._address, self._folder, pinned, self._secret)
        git = GitProcess(self._folder / "repository.git", variables, seconds=self._seconds, secret=self._secret)
        version = re.search(rb"(\d+)\.(\d+)", await git.run("version"))
        if version is None or (int(version[1]), int(version[2])) < _NEEDED:
            raise SourceUnavailable("The program `git` is too old. Install version 2.37 or newer.")
        return git

    async def _updated(self, git: GitProcess) -> str:
        """The commit that is meant, when all of it is there."""
        name, commit = await self._meant(git)
        if await self._has(git, commit):
            return commit
        try:
            return await self._fetched(git, name)
        except GitFailed:
            # The other side answered just now, so it is the copy that is broken, by a crash for instance.
            await asyncio.to_thread(shutil.rmtree, git.repository, ignore_errors=True)
            return await self._fetched(git, name)

    async def _meant(self, git: GitProcess) -> tuple[str, str]:
        """What to fetch, and the commit that it is."""
        if is_commit(self._ref) and await self._has(git, self._ref):
            return self._ref, self._ref
        names = [f"refs/heads/{self._ref}", f"refs/tags/{self._ref}^{{}}", f"refs/tags/{self._ref}"]
        asked = names if self._ref and not is_commit(self._ref) else ["HEAD"]
        answer = await git.run("ls-remote", "--quiet", "--", self._address.url, *asked)
        lines = (line.partition("\t") for line in answer.decode("utf-8", "replace").splitlines())
        commits = {name: commit for commit, _, name in lines}
        if is_commit(self._ref):
            return self._ref, self._ref
        for name in asked:
            if name in commits and is_commit(commits[name]):
                return name.removesuffix("^{}"), commits[name]
        what = f"no branch or tag `{self._ref}`" if self._ref else "no commit yet"
        raise SourceUnavailable(f"The repository has {what}.")

    async def _has(self, git: GitProcess, commit: str) -> bool:
        """Whether the last fetch brought it, to its end."""
        if not await asyncio.to_thread(git.repository.is_dir):
            return False
        try:
            head = await git.run("rev-parse", "--verify", "--quiet", f"{_HEAD}^{{commit}}")
        except GitFailed:
            return False
        return head.decode().strip() == commit

    async def _fetched(self, git: GitProcess, name: str) -> str:
        if not await asyncio.to_thread(git.repository.is_dir):
            await git.run("init", "--bare", "--quiet", "--template=")
        wanted = f"+{name}:{_HEAD}"
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--force")
        await git.run("fetch", *options, "--", self._address.url, wanted)
        await git.run("gc", "--auto", "--quiet")
        return (await git.run("rev-parse", "--verify", f"{_HEAD}^{{commit}}")).decode().strip()


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") or part in JUNK for part in path.split("/"))


async def _bring(blobs: GitBlobReader, entry: _TreeEntry, link: str | None) -> RawDocument:
    return RawDocument(entry.path, await blobs.read(entry.blob), link=link)


def _entries(listing: bytes) -> list[_TreeEntry]:
    """`MODE TYPE ID SIZE<tab>PATH`, each ended by a NUL."""
    entries: list[_TreeEntry] = []
    for record in filter(None, listing.split(b"\0")):
        about, _, path = record.partition(b"\t")
        mode, _, blob, size = about.decode().split()
        entries.append(_TreeEntry(mode, blob, int(size) if size.isdigit() else 0, path.decode("utf-8", "replace")))
    return entries
