"""What an operator may say of a source, and what is said back."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.sources.config import Kind, SourceConfig, SourceDependencies
from gaby.knowledge.sources.factory import check, make_source
from gaby.knowledge.sources.source import BadSource
from tests.knowledge.sources.conftest import Opening
from tests.support.knowledge.listing import listing

pytestmark = pytest.mark.promise("K1")

GOOD = [
    SourceConfig("folder", "/srv/docs", {"include": "docs/**, *.md", "exclude": "drafts/"}),
    SourceConfig("file", "/srv/handbook.pdf"),
    SourceConfig("git", "https://git.company.example/docs.git", {"ref": "main"}, "token"),
    SourceConfig("git", "git@git.company.example:docs.git"),
    SourceConfig("git", "/srv/docs.git"),
    SourceConfig("url", "https://docs.company.example/handbook"),
    SourceConfig("site", "https://docs.company.example", {"max_pages": "50", "max_depth": "0", "pause": "0.2"}),
    SourceConfig("confluence", "https://company.atlassian.net", {"email": "a@company.example", "spaces": "OPS"}, "t"),
    SourceConfig("confluence", "https://wiki.company.example/confluence", {}, "t"),
    SourceConfig("notion", "", {}, "ntn_x"),
    SourceConfig("tickets", "/srv/export.csv", {"statuses": "erledigt"}),
    SourceConfig("tickets", "desk"),
    SourceConfig("learned", ""),
]

BAD = [
    (SourceConfig(cast("Kind", "ftp"), "x"), "no kind of source 'ftp'. There are: folder"),
    (SourceConfig("folder", "docs"), "whole path"),
    (SourceConfig("folder", "/srv/\0"), "whole path"),
    (SourceConfig("folder", "/srv", {"inlcude": "*"}), "no option `inlcude`. There are: exclude, include"),
    (SourceConfig("folder", "/srv", {"include": "*" * 30}), "no pattern"),
    (SourceConfig("folder", "/srv", {}, "secret"), "takes no secret"),
    (SourceConfig("file", "/srv/a", {"x": "1"}), "has none"),
    (SourceConfig("git", "ext::sh -c id"), "no address of a repository"),
    (SourceConfig("git", "/srv/docs", {"ref": "--all"}), "ref"),
    (SourceConfig("git", "git@git.company.example:docs.git", {}, "t"), "key of the account"),
    (SourceConfig("url", "docs.company.example"), "no address of a page"),
    (SourceConfig("url", "file:///etc/passwd"), "no address of a page"),
    (SourceConfig("url", "https://user:pass@docs.company.example/"), "without a password"),
    (SourceConfig("site", "https://docs.company.example/", {"max_pages": "lots"}), "from 1 to 10000"),
    (SourceConfig("site", "https://docs.company.example/", {"max_pages": "nan"}), "from 1 to 10000"),
    (SourceConfig("site", "https://docs.company.example/", {"sitemap": "maybe"}), "yes or no"),
    (SourceConfig("confluence", "https://wiki.company.example"), "needs a token"),
    (SourceConfig("confluence", "https://wiki.company.example", {}, "a\nb"), "no token has"),
    (SourceConfig("confluence", "http://wiki.company.example", {}, "t"), "https"),
    (SourceConfig("confluence", "https://wiki.company.example", {"flavour": "x"}, "t"), "cloud or server"),
    (SourceConfig("confluence", "https://wiki.company.example", {"email": "a:b"}, "t"), "email"),
    (SourceConfig("notion", ""), "needs a token"),
    (SourceConfig("notion", "http://api.notion.example", {}, "t"), "https"),
    (SourceConfig("tickets", "/srv/export.xlsx"), ".jsonl"),
]


@pytest.mark.parametrize("config", GOOD, ids=lambda config: f"{config.kind} {config.location}")
def test_what_is_right_passes(config: SourceConfig) -> None:
    check(config)


@pytest.mark.parametrize(("config", "says"), BAD, ids=lambda each: str(each)[:50])
def test_what_is_wrong_is_told_with_what_to_do(
    config: SourceConfig, says: str, dependencies: SourceDependencies
) -> None:
    with pytest.raises(BadSource) as raised:
        check(config)
    assert says in raised.value.message
    with pytest.raises(BadSource):
        make_source(config, dependencies)


_words = st.text(max_size=40)


@given(st.sampled_from([config.kind for config in GOOD]), _words, st.dictionaries(_words, _words, max_size=2), _words)
def test_whatever_is_said_of_a_source_is_right_or_told(
    kind: Any, location: str, options: dict[str, str], secret: str
) -> None:
    config = SourceConfig(kind, location, options, f"s3cr3t{secret}s3cr3t")
    assert "s3cr3t" not in repr(config)
    said = ""
    try:
        check(config)
    except BadSource as error:
        said = error.message
    assert "s3cr3t" not in said


async def test_every_kind_can_be_made_without_reaching_anything(
    opening: Opening, dependencies: SourceDependencies
) -> None:
    for config in GOOD[:11]:
        opening(config)
    assert not dependencies.cache.exists()


def test_what_the_installation_does_not_have_is_told(dependencies: SourceDependencies) -> None:
    for kind, location in (("tickets", "desk"), ("learned", "")):
        with pytest.raises(BadSource):
            make_source(SourceConfig(cast("Kind", kind), location), dependencies)


async def test_only_folders_that_the_installation_allows_are_read(
    opening: Opening, dependencies: SourceDependencies, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("x")
    (tmp_path / "docs" / "way-out").symlink_to("/etc")
    limited = replace(dependencies, allowed_folders=(tmp_path / "docs",))
    assert (await listing(opening(SourceConfig("folder", f"{tmp_path}/docs"), limited))).uris == ["a.md"]
    refused = [
        SourceConfig("folder", f"{tmp_path}"),
        SourceConfig("folder", f"{tmp_path}/docs/.."),
        SourceConfig("folder", f"{tmp_path}/docs/way-out"),
        SourceConfig("folder", f"{tmp_path}/docs-other"),
        SourceConfig("file", "/etc/passwd"),
        SourceConfig("git", f"{tmp_path}/repository"),
        SourceConfig("tickets", "/etc/export.csv"),
    ]
    for config in refused:
        with pytest.raises(BadSource, match="none of the folders"):
            make_source(config, limited)
