"""Confluence, Cloud and Data Center."""

from collections.abc import Generator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.confluence_storage import as_html
from gaby.knowledge.sources.source import DocumentSource, SourceUnavailable
from tests.knowledge.sources.conftest import Opening, Sleeper
from tests.support.knowledge.confluence import EMAIL, TOKEN, ScriptedConfluence, WikiPage, scripted_confluence
from tests.support.knowledge.listing import listing

pytestmark = pytest.mark.promise("K1")

FLAVOURS = ("cloud", "server")


@pytest.fixture
def confluence() -> Generator[ScriptedConfluence]:
    with scripted_confluence() as scripted:
        for number in range(5):
            scripted.add(WikiPage(str(100 + number), "OPS", f"Runbook {number}"))
        scripted.add(WikiPage("200", "HR", "Holidays"))
        yield scripted


def _config(confluence: ScriptedConfluence, flavour: str, secret: str = TOKEN, **options: str) -> SourceConfig:
    if flavour == "cloud":
        signed = {"flavour": "cloud", "email": EMAIL, **options}
        return SourceConfig("confluence", f"{confluence.url}/wiki", signed, secret)
    return SourceConfig("confluence", confluence.url, options, secret)


@pytest.fixture(params=FLAVOURS)
def source(request: pytest.FixtureRequest, opening: Opening, confluence: ScriptedConfluence) -> DocumentSource:
    return opening(_config(confluence, request.param))


async def test_every_page_of_every_space_is_listed_however_many_parts_it_takes(source: DocumentSource) -> None:
    found = await listing(source)
    assert found.uris == ["HR/200", *(f"OPS/{100 + number}" for number in range(5))]
    assert found.total == 6
    brought = await found.bring("OPS/103")
    assert (brought.title, brought.media_type, brought.data) == ("Runbook 3", "text/html", b"<p>words</p>")
    assert brought.link is not None
    assert "103" in brought.link


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_only_the_spaces_that_are_named_are_read(
    opening: Opening, confluence: ScriptedConfluence, flavour: str
) -> None:
    assert (await listing(opening(_config(confluence, flavour, spaces="HR")))).uris == ["HR/200"]
    with pytest.raises(SourceUnavailable, match="no space NOPE"):
        await listing(opening(_config(confluence, flavour, spaces="HR, NOPE")))


async def test_a_new_version_is_another_fingerprint(confluence: ScriptedConfluence, source: DocumentSource) -> None:
    before = (await listing(source)).known()
    confluence.pages["101"].version = 2
    after = (await listing(source)).known()
    assert {uri for uri in after if after[uri] != before[uri]} == {"OPS/101"}


async def test_archived_and_deleted_pages_leave(confluence: ScriptedConfluence, source: DocumentSource) -> None:
    confluence.pages["100"].status = "archived"
    confluence.pages["101"].status = "trashed"
    confluence.archived_spaces.add("HR")
    assert (await listing(source)).uris == ["OPS/102", "OPS/103", "OPS/104"]
    confluence.gives_everything = True
    assert (await listing(source)).uris == ["OPS/102", "OPS/103", "OPS/104"]


async def test_a_page_that_goes_away_meanwhile_is_told(confluence: ScriptedConfluence, source: DocumentSource) -> None:
    found = await listing(source)
    del confluence.pages["100"]
    confluence.pages["101"].status = "trashed"
    for uri in ("OPS/100", "OPS/101"):
        with pytest.raises(Unreadable):
            await found.bring(uri)


async def test_a_busy_confluence_is_given_the_pause_it_asks_for(
    confluence: ScriptedConfluence, source: DocumentSource, sleeper: Sleeper
) -> None:
    confluence.refusals = [(429, {"Retry-After": "4"}), (429, {})]
    assert len((await listing(source)).items) == 6
    assert sleeper.waits == [4.0, 10.0]
    confluence.refusals = [(429, {"Retry-After": "3600"})]
    with pytest.raises(SourceUnavailable, match="longer pause"):
        await listing(source)


@pytest.mark.parametrize("refusal", [(500, {}), (502, {}), (302, {"Location": "http://elsewhere.example/login"})])
async def test_a_listing_that_breaks_off_is_not_taken_for_complete(
    confluence: ScriptedConfluence, source: DocumentSource, refusal: tuple[int, dict[str, str]]
) -> None:
    confluence.refusals = [refusal]
    with pytest.raises(SourceUnavailable):
        await listing(source)


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_a_wrong_token_is_told_and_never_shown(
    opening: Opening, confluence: ScriptedConfluence, flavour: str
) -> None:
    with pytest.raises(SourceUnavailable, match="does not accept the token") as raised:
        await listing(opening(_config(confluence, flavour, secret="wrong-secret")))
    assert "wrong-secret" not in raised.value.message


async def test_the_token_goes_to_confluence_and_nowhere_else(
    confluence: ScriptedConfluence, opening: Opening, dependencies: SourceDependencies
) -> None:
    with scripted_confluence() as other:
        confluence.refusals = [(302, {"Location": f"{other.url}/rest/api/space"})]
        with pytest.raises(SourceUnavailable):
            await listing(opening(_config(confluence, "server")))
        assert other.asked == []
    with pytest.raises(SourceUnavailable, match="private or special"):
        await listing(opening(_config(confluence, "server"), replace(dependencies, allowed_networks=())))


async def test_a_list_that_never_ends_is_given_up(confluence: ScriptedConfluence, source: DocumentSource) -> None:
    confluence.at_once = 0
    with pytest.raises(SourceUnavailable):
        await listing(source)


_MACRO = '<ac:structured-macro ac:name="{}">{}</ac:structured-macro>'


@pytest.mark.parametrize(
    ("storage", "html"),
    [
        ("<h1>A</h1><p>b &amp; c</p>", "<h1>A</h1><p>b &amp; c</p>"),
        (
            _MACRO.format(
                "code",
                '<ac:parameter ac:name="language">bash</ac:parameter>'
                '<ac:plain-text-body><![CDATA[if [ $a < 2 ]; then echo "]]" ]]]]><![CDATA[>&2]]></ac:plain-text-body>',
            ),
            '<pre><code class="language-bash">if [ $a &lt; 2 ]; then echo "]]" ]]&gt;&amp;2</code></pre>',
        ),
        (
            _MACRO.format(
                "warning",
                '<ac:parameter ac:name="title">Careful</ac:parameter><ac:rich-text-body><p>hot</p></ac:rich-text-body>',
            ),
            "<blockquote><p><strong>Careful</strong></p><p>hot</p></blockquote>",
        ),
        (_MACRO.format("expand", "<ac:rich-text-body><p>more</p></ac:rich-text-body>"), "<div><p>more</p></div>"),
        ("<p>a</p>" + '<ac:structured-macro ac:name="toc" />' + "<p>b</p>", "<p>a</p><p>b</p>"),
        (_MACRO.format("jira", '<ac:parameter ac:name="key">OPS-1</ac:parameter>'), ""),
        ('<p>See <ac:link><ri:page ri:content-title="VPN" /></ac:link>.</p>', "<p>See VPN.</p>"),
        (
            '<ac:link><ri:page ri:content-title="VPN"/><ac:plain-text-link-body><![CDATA[the <b> page]]>'
            "</ac:plain-text-link-body></ac:link>",
            "the &lt;b&gt; page",
        ),
        (
            "<ac:task-list><ac:task><ac:task-id>7</ac:task-id><ac:task-status>complete</ac:task-status>"
            "<ac:task-body>done</ac:task-body></ac:task></ac:task-list>",
            "<ul><li>[x] <span>done</span></li></ul>",
        ),
        ('<ac:image><ri:attachment ri:filename="a.png" /></ac:image>x', "x"),
        ("<ac:layout><ac:layout-section><p>kept</p></ac:layout-section></ac:layout>", "<p>kept</p>"),
        (
            '<a href="https://a.example/?x=1&amp;y=2" onclick="x()">l</a>',
            '<a href="https://a.example/?x=1&amp;y=2">l</a>',
        ),
        ("<script>alert(1)</script><style>p{}</style>z", "z"),
        ("<p>open<ac:link>", "<p>open</p>"),
    ],
)
def test_what_people_wrote_stays_and_macros_go(storage: str, html: str) -> None:
    assert as_html(storage) == html


@given(st.text(alphabet="<>/![]CDATAac:link-rip \"'=&;", max_size=200))
def test_no_storage_format_breaks_the_reading(storage: str) -> None:
    assert isinstance(as_html(storage), str)


@pytest.mark.parametrize("piece", ["<div>", "<ac:link>", "<![CDATA[", "</p>", "]]>", "<ac:structured-macro "])
def test_a_page_that_is_made_to_take_long_does_not(piece: str) -> None:
    assert as_html(piece * 50_000) is not None
