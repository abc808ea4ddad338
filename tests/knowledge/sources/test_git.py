"""Repositories of git as sources."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.git_address import check_ref, git_address
from gaby.knowledge.sources.git_process import GitFailed, GitProcess, environment
from gaby.knowledge.sources.guard import Address
from gaby.knowledge.sources.source import BadSource, DocumentSource, SourceUnavailable
from tests.knowledge.sources.conftest import Opening
from tests.support.knowledge.git_https import git_https
from tests.support.knowledge.listing import listing
from tests.support.knowledge.repository import MadeRepository

pytestmark = pytest.mark.promise("K1")

Cloning = Callable[..., DocumentSource]


@pytest.fixture
def repository(tmp_path: Path) -> MadeRepository:
    return MadeRepository(tmp_path / "upstream")


@pytest.fixture
def cloning(opening: Opening, repository: MadeRepository) -> Cloning:
    def make(dependencies: SourceDependencies | None = None, **options: str) -> DocumentSource:
        return opening(SourceConfig("git", str(repository.path), options), dependencies)

    return make


async def test_the_files_of_a_commit_are_listed_by_their_path(repository: MadeRepository, cloning: Cloning) -> None:
    repository.write("docs/übersicht notes.md", "first\nlines\n")
    repository.write("photo.png", b"\x89PNG")
    repository.write(".github/hidden.md", "x")
    repository.commit(readme="hello", docs__guide="words")
    found = await listing(cloning())
    assert found.uris == ["docs/guide.md", "docs/übersicht notes.md", "readme.md"]
    assert found.total == 3
    assert await found.text("docs/übersicht notes.md") == "first\nlines\n"
    assert (await found.bring("readme.md")).link is None


async def test_files_of_kinds_that_are_not_read_are_counted(repository: MadeRepository, cloning: Cloning) -> None:
    repository.write("docs/handbook.docx", b"PK")
    repository.write("photo.png", b"\x89PNG")
    repository.write(".github/hidden.docx", b"PK")
    repository.commit(readme="hello")
    found = (await listing(cloning(exclude="*.png"))).skipped
    assert found is not None
    assert (found.count, found.kinds, found.files) == (1, {".docx": 1}, ["docs/handbook.docx"])


async def test_the_fingerprint_of_a_file_is_what_git_calls_its_content(
    repository: MadeRepository, cloning: Cloning
) -> None:
    repository.commit(a="one", b="two")
    source = cloning()
    before = (await listing(source)).known()
    repository.git("mv", "b.md", "renamed.md")
    repository.commit(a="changed")
    after = await listing(source)
    assert after.uris == ["a.md", "renamed.md"]
    assert after.known()["renamed.md"] == before["b.md"]
    assert after.known()["a.md"] != before["a.md"]
    assert await after.text("a.md") == "changed"


async def test_a_branch_a_tag_and_a_commit_can_be_meant(repository: MadeRepository, cloning: Cloning) -> None:
    first = repository.commit(a="first")
    repository.git("tag", "-a", "v1", "-m", "One")
    repository.git("switch", "--quiet", "-c", "feature/next")
    repository.commit(a="next")
    repository.git("switch", "--quiet", "main")
    repository.commit(a="newest")
    for ref, words in (("", "newest"), ("feature/next", "next"), ("v1", "first"), (first, "first")):
        assert await (await listing(cloning(ref=ref))).text("a.md") == words


async def test_a_branch_that_is_rewritten_is_followed(repository: MadeRepository, cloning: Cloning) -> None:
    repository.commit(a="one")
    await listing(cloning())
    repository.git("commit", "--quiet", "--amend", "-m", "Other history")
    repository.git("update-ref", "refs/heads/main", repository.git("commit-tree", "HEAD^{tree}", "-m", "No parent"))
    repository.commit(a="two")
    assert await (await listing(cloning())).text("a.md") == "two"


async def test_links_and_submodules_are_named_and_not_followed(repository: MadeRepository, cloning: Cloning) -> None:
    repository.write("real.md", "x")
    (repository.path / "secret.md").symlink_to("/etc/passwd")
    (repository.path / "inside.md").symlink_to("real.md")
    commit = repository.commit()
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},vendored")
    repository.write(".gitmodules", '[submodule "vendored"]\n\tpath = vendored\n\turl = ext::sh -c "touch pwned"\n')
    repository.git("add", ".gitmodules")
    repository.git("commit", "--quiet", "-m", "A submodule")
    found = await listing(cloning())
    assert found.uris == ["real.md"]
    assert set(found.failed) == {"inside.md", "secret.md", "vendored"}
    assert "submodule" in found.failed["vendored"].reason


async def test_large_files_are_named_and_not_read(
    repository: MadeRepository, cloning: Cloning, dependencies: SourceDependencies
) -> None:
    repository.write("big.md", "x" * 5000)
    repository.write("pointer.md", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")
    repository.commit(small="y")
    found = await listing(cloning(replace(dependencies, limits=replace(dependencies.limits, document_bytes=1000))))
    assert found.uris == ["pointer.md", "small.md"]
    assert "big.md" in found.failed
    with pytest.raises(Unreadable, match="Git LFS"):
        await found.bring("pointer.md")
    assert await found.text("small.md") == "y"


async def test_many_files_can_be_asked_for_at_once(repository: MadeRepository, cloning: Cloning) -> None:
    for number in range(60):
        repository.write(f"{number}.md", f"text {number}\n" * number)
    repository.commit()
    found = await listing(cloning())
    brought = await asyncio.gather(*(found.bring(f"{number}.md") for number in range(60)))
    assert [each.data.decode() for each in brought] == [f"text {number}\n" * number for number in range(60)]


async def test_an_order_hidden_in_a_repository_is_never_carried_out(
    repository: MadeRepository, cloning: Cloning, tmp_path: Path
) -> None:
    """Hooks, filters and helpers of the repository, and of the account's own configuration."""
    mark = tmp_path / "carried-out"
    script = f"#!/bin/sh\ntouch {mark}\n"
    for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-index-change"):
        path = repository.path / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)
    repository.write(".gitattributes", "*.md filter=evil diff=evil\n")
    repository.commit(a="words")
    for hook in (repository.path / ".git" / "hooks").iterdir():
        hook.chmod(0o755)
    repository.git("config", "filter.evil.smudge", f"touch {mark}")
    repository.git("config", "uploadpack.packObjectsHook", f"touch {mark}")
    repository.git("config", "core.fsmonitor", f"touch {mark}")
    assert await (await listing(cloning())).text("a.md") == "words"
    assert not mark.exists()


async def test_a_hook_that_somebody_put_into_the_copy_is_never_run(
    repository: MadeRepository, cloning: Cloning, dependencies: SourceDependencies, tmp_path: Path
) -> None:
    repository.commit(a="one")
    await listing(cloning())
    (copy,) = dependencies.cache.glob("git-*/repository.git")
    hook = copy / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/carried-out\n")
    hook.chmod(0o755)
    repository.commit(a="two")
    assert await (await listing(cloning())).text("a.md") == "two"
    assert not (tmp_path / "carried-out").exists()


async def test_what_git_says_is_passed_on_without_the_secret(tmp_path: Path) -> None:
    made = environment(git_address("/x"), tmp_path, None, None)
    says = "!echo 'fatal: no leave for tok-123 here' >&2; false"
    alias = {**made, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "alias.say", "GIT_CONFIG_VALUE_0": says}
    with pytest.raises(GitFailed, match=r"^no leave for \*\*\* here$"):
        await GitProcess(tmp_path / "r.git", alias, seconds=60, secret="tok-123").run("say")


async def test_a_copy_that_a_crash_left_broken_is_fetched_again(
    repository: MadeRepository, cloning: Cloning, dependencies: SourceDependencies
) -> None:
    repository.commit(a="one")
    await listing(cloning())
    (copy,) = dependencies.cache.glob("git-*/repository.git")
    repository.commit(a="two")
    (copy / "shallow.lock").touch()
    (copy / "refs" / "gaby" / "head.lock").touch()
    assert await (await listing(cloning())).text("a.md") == "two"
    (copy / "HEAD").unlink()
    repository.commit(a="three")
    assert await (await listing(cloning())).text("a.md") == "three"


async def test_the_copy_does_not_grow_with_every_change(
    repository: MadeRepository, cloning: Cloning, dependencies: SourceDependencies
) -> None:
    source = cloning()
    for number in range(12):
        repository.write("data.md", os.urandom(50_000).hex())
        repository.commit(a=str(number))
        await listing(source)
    (copy,) = dependencies.cache.glob("git-*/repository.git")
    size = sum(path.stat().st_size for path in copy.rglob("*") if path.is_file())
    assert size < 12 * 60_000


async def test_a_repository_that_is_not_there_empties_nothing(
    opening: Opening, repository: MadeRepository, cloning: Cloning, tmp_path: Path
) -> None:
    with pytest.raises(SourceUnavailable, match="no commit yet"):
        await listing(cloning())
    repository.commit(a="one")
    with pytest.raises(SourceUnavailable, match="no branch or tag `nowhere`"):
        await listing(cloning(ref="nowhere"))
    with pytest.raises(SourceUnavailable, match="Git says"):
        await listing(cloning(ref="0" * 40))
    with pytest.raises(SourceUnavailable, match="Git says"):
        await listing(opening(SourceConfig("git", str(tmp_path / "missing"))))


async def test_patterns_choose_among_the_files(repository: MadeRepository, cloning: Cloning) -> None:
    repository.commit(docs__a="x", docs__draft="x", other="x")
    assert (await listing(cloning(include="docs/**", exclude="draft.md"))).uris == ["docs/a.md"]


@pytest.mark.parametrize(
    "location",
    [
        "ext::sh -c touch% pwned",
        "-oProxyCommand=touch pwned",
        "--upload-pack=touch pwned",
        "http://git.company.example/docs.git",
        "git://git.company.example/docs.git",
        "file:///etc",
        "ssh://-oProxyCommand=touch/x",
        "git@-oProxyCommand=touch:x",
        "git@git.company.example:-x",
        "https://name:token@git.company.example/docs.git",
        "https://git.company.example/docs.git\n",
        "https://git.company.example/$(touch pwned)",
        "docs",
        "../docs",
        "",
        "https://",
        "fd::17",
        "https://git.company.example:99999/docs.git",
        "https://git.company.example[::1]/docs.git",
    ],
)
def test_an_address_that_git_could_take_for_an_order_is_refused(location: str) -> None:
    with pytest.raises(BadSource):
        git_address(location)


@pytest.mark.parametrize(
    "ref", ["-x", "--all", "a..b", "a:b", "+a", "a b", "a~1", "a^", "HEAD@{1}", "a/", "x.lock", "a*"]
)
def test_a_ref_that_is_no_name_is_refused(ref: str) -> None:
    with pytest.raises(BadSource, match="ref"):
        check_ref(ref)


@given(st.text(max_size=80))
def test_whatever_is_given_as_an_address_is_understood_or_refused(location: str) -> None:
    try:
        address = git_address(location)
    except BadSource:
        return
    assert not address.url.startswith("-")
    assert "::" not in address.url or address.transport == "file"


@pytest.mark.parametrize(
    ("location", "link"),
    [
        ("https://github.com/company/docs.git", "https://github.com/company/docs/blob/c0/a%20b.md"),
        ("git@gitlab.com:company/team/docs.git", "https://gitlab.com/company/team/docs/-/blob/c0/a%20b.md"),
        ("ssh://git@codeberg.org/company/docs", "https://codeberg.org/company/docs/src/commit/c0/a%20b.md"),
        ("https://bitbucket.org/company/docs/", "https://bitbucket.org/company/docs/src/c0/a%20b.md"),
        ("https://git.company.example/docs.git", None),
    ],
)
def test_on_known_websites_a_file_has_a_link_at_its_commit(location: str, link: str | None) -> None:
    assert git_address(location).link("c0", "a b.md") == link


async def test_a_repository_at_a_private_address_is_refused_before_git_is_asked(
    opening: Opening, dependencies: SourceDependencies
) -> None:
    async def private(host: str, port: int) -> Sequence[Address]:
        return [ip_address("10.0.0.1")]

    for location in ("https://git.company.example/docs.git", "git@git.company.example:docs.git"):
        source = opening(SourceConfig("git", location), replace(dependencies, resolve=private))
        with pytest.raises(SourceUnavailable, match="private or special"):
            await listing(source)
    assert not dependencies.cache.exists()


async def test_a_failed_fetch_tells_the_reason_and_not_the_token(
    opening: Opening, dependencies: SourceDependencies
) -> None:
    async def here(host: str, port: int) -> Sequence[Address]:
        return [ip_address("127.0.0.1")]

    config = SourceConfig("git", "https://git.company.example:9/docs.git", secret="gh-secret-token")
    with pytest.raises(SourceUnavailable, match="Git says") as raised:
        await listing(opening(config, replace(dependencies, resolve=here)))
    assert "gh-secret-token" not in raised.value.message
    assert "gh-secret-token" not in repr(config)


def test_the_judged_address_is_the_one_git_is_told_to_call(tmp_path: Path) -> None:
    pinned = ip_address("93.184.216.34")
    made = environment(git_address("https://git.company.example/docs.git"), tmp_path, pinned, "tok")
    values = {
        made[f"GIT_CONFIG_KEY_{at}"]: made[f"GIT_CONFIG_VALUE_{at}"] for at in range(int(made["GIT_CONFIG_COUNT"]))
    }
    assert values["http.curloptResolve"] == "git.company.example:443:93.184.216.34"
    assert values["http.followRedirects"] == "false"
    assert "http.https://git.company.example:443/.extraHeader" in values
    assert made["GIT_ALLOW_PROTOCOL"] == "https"
    over_ssh = environment(git_address("ssh://git@git.company.example:2222/docs.git"), tmp_path, pinned, None)
    assert "HostName=93.184.216.34" in over_ssh["GIT_SSH_COMMAND"]
    assert "'HostKeyAlias=[git.company.example]:2222'" in over_ssh["GIT_SSH_COMMAND"]


async def test_a_git_that_does_not_come_to_an_end_is_ended(tmp_path: Path) -> None:
    made = environment(git_address("/x"), tmp_path, None, None)
    alias = {**made, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "alias.wait", "GIT_CONFIG_VALUE_0": "!cat /dev/zero"}
    git = GitProcess(tmp_path / "r.git", alias, seconds=60, secret=None)
    with pytest.raises(GitFailed, match="more files"):
        await git.run("wait")
    alias["GIT_CONFIG_VALUE_0"] = f"!read forever < {tmp_path / 'pipe'}"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GitFailed, match="longer than"):
        await GitProcess(tmp_path / "r.git", alias, seconds=0.2, secret=None).run("wait")


async def test_a_repository_behind_a_token_is_fetched_from_the_judged_address(
    repository: MadeRepository, opening: Opening, dependencies: SourceDependencies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No DNS knows this name, so it works only because git calls the address that was judged."""
    repository.commit(a="behind a token")
    repository.git("clone", "--quiet", "--bare", ".", "../docs.git")

    async def here(host: str, port: int) -> Sequence[Address]:
        return [ip_address("127.0.0.1")]

    reachable = replace(dependencies, resolve=here)
    with git_https(repository.path.parent, "git.company.example", "gh-secret-token") as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        config = SourceConfig("git", server.url("docs.git"), secret="gh-secret-token")
        assert await (await listing(opening(config, reachable))).text("a.md") == "behind a token"
        assert (server.served > 0, server.refused) == (True, 0)
        wrong = SourceConfig("git", server.url("docs.git"), {"ref": "main"}, "wrong-token")
        with pytest.raises(SourceUnavailable, match="Git says") as raised:
            await listing(opening(wrong, reachable))
        assert "wrong-token" not in raised.value.message
    written = b"".join(path.read_bytes() for path in dependencies.cache.rglob("*") if path.is_file())
    assert b"gh-secret-token" not in written
