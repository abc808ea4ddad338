"""Websites from link to link."""

from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest

from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.source import DocumentSource, SourceItem, SourceUnavailable
from tests.knowledge.sources.conftest import Opening, Sleeper
from tests.support.knowledge.listing import listing
from tests.support.knowledge.website import Page, SmallSite
from tests.support.models.http_server import Received

pytestmark = pytest.mark.promise("K1")

Crawling = Callable[..., DocumentSource]


@pytest.fixture
def crawling(opening: Opening, website: SmallSite) -> Crawling:
    def make(path: str = "/", dependencies: SourceDependencies | None = None, **options: str) -> DocumentSource:
        return opening(SourceConfig("site", f"{website.url}{path}", options), dependencies)

    return make


async def test_a_website_is_read_from_link_to_link(website: SmallSite, crawling: Crawling) -> None:
    website.page("/", "/a", "b/c.html#part", "mailto:help@company.example", "https://elsewhere.example/")
    website.page("/a", "/", "/b/c.html")
    website.page("/b/c.html", "../d?y=2&x=1")
    website.pages["/d?x=1&y=2"] = Page("<p>sorted</p>")
    found = await listing(crawling())
    assert found.uris == ["/", "a", "b/c.html", "d?x=1&y=2"]
    assert (await found.bring("a")).link == f"{website.url}/a"
    assert found.total == 4
    assert all(website.count(path) == 1 for path in ("/a", "/b/c.html", "/d"))


async def test_only_what_lies_below_the_start_is_read(website: SmallSite, crawling: Crawling) -> None:
    website.page("/docs/", "/docs/a", "/pricing", "/docs-old/", "//other.example/docs/b", "/docs/../secret")
    website.page("/docs/a")
    assert (await listing(crawling("/docs/"))).uris == ["docs/", "docs/a"]
    assert set(website.paths) <= {"/docs/", "/docs/a", "/robots.txt", "/sitemap.xml"}


async def test_one_page_in_several_spellings_is_read_once(website: SmallSite, crawling: Crawling) -> None:
    website.page("/", "/a", "/a/", "/a#x", "//127.0.0.1/a", "/./a", "/b/../a", "/a?")
    website.page("/a", "/a/")
    website.redirect("/old", "/a")
    assert (await listing(crawling())).uris == ["/", "a"]
    assert website.count("/a") == 1


async def test_a_redirect_within_the_website_is_the_page_it_leads_to(website: SmallSite, crawling: Crawling) -> None:
    website.page("/", "/old", "/dir", "/away")
    website.redirect("/old", "/new")
    website.redirect("/dir", "/dir/")
    website.redirect("/away", "http://169.254.169.254/latest/")
    website.page("/new")
    website.page("/dir/")
    found = await listing(crawling())
    assert found.uris == ["/", "dir/", "new"]
    assert found.failed == {}


async def test_robots_txt_is_honoured(website: SmallSite, crawling: Crawling, sleeper: Sleeper) -> None:
    rules = "User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\nAllow: /private/open\nCrawl-delay: 2\n"
    website.pages["/robots.txt"] = Page(rules, kind="text/plain")
    website.page("/", "/private/a", "/private/open", "/x.pdf", "/b")
    website.page("/private/open")
    website.page("/b")
    website.redirect("/c", "/private/a")
    assert (await listing(crawling())).uris == ["/", "b", "private/open"]
    assert "/private/a" not in website.paths
    assert set(sleeper.waits) == {2.0}


async def test_a_long_delay_is_kept_within_reason(website: SmallSite, crawling: Crawling, sleeper: Sleeper) -> None:
    website.pages["/robots.txt"] = Page("User-agent: gaby\nCrawl-delay: 86400", kind="text/plain")
    website.page("/")
    await listing(crawling(pause="3"))
    assert set(sleeper.waits) == {10.0}


async def test_a_robots_txt_that_fails_means_not_now(website: SmallSite, crawling: Crawling) -> None:
    website.page("/")
    website.pages["/robots.txt"] = Page(status=500)
    with pytest.raises(SourceUnavailable, match="robots"):
        await listing(crawling())
    website.pages["/robots.txt"] = Page(status=403)
    assert (await listing(crawling())).uris == ["/"]


async def test_a_start_page_that_robots_may_not_read_is_told(website: SmallSite, crawling: Crawling) -> None:
    website.page("/")
    website.pages["/robots.txt"] = Page("User-agent: *\nDisallow: /", kind="text/plain")
    with pytest.raises(SourceUnavailable, match="does not allow"):
        await listing(crawling())


async def test_pages_that_do_not_want_to_be_found_are_not_kept(website: SmallSite, crawling: Crawling) -> None:
    website.page("/", "/hub", "/dead-end", "/header")
    website.page("/hub", "/a", head='<meta name="ROBOTS" content="NoIndex, follow">')
    website.page("/dead-end", "/never", head='<meta name="robots" content="nofollow">')
    website.pages["/header"] = Page("<p>x</p>", headers={"X-Robots-Tag": "noindex"})
    website.pages["/a"] = Page('<a rel="external nofollow" href="/never">x</a><p>a</p>')
    website.page("/never")
    assert (await listing(crawling())).uris == ["/", "a", "dead-end"]


async def test_endless_links_come_to_an_end(website: SmallSite, crawling: Crawling) -> None:
    """A calendar that always has a next month, a relative link that goes deeper each time, a cycle."""

    def page(received: Received) -> Page:
        number = len(website.asked)
        return Page(f'<a href="/cal?month={number}">n</a><a href="deep/{number}/">d</a><a href="/">h</a>')

    website.pages = {"/robots.txt": Page(status=404), "/sitemap.xml": Page(status=404)}
    website.otherwise = page
    found = await listing(crawling(max_pages="40", max_depth="20"))
    assert len(found.items) == 40
    assert "more than 40 pages" in next(iter(found.failed.values())).reason


async def test_a_page_with_ever_other_questions_does_not_use_up_the_crawl(
    website: SmallSite, crawling: Crawling
) -> None:
    website.page("/", *(f"/calendar?month={number}" for number in range(200)), "/guide")
    website.page("/calendar")
    website.page("/guide")
    found = await listing(crawling(max_pages="100"))
    assert "guide" in found.uris
    assert len(found.items) == 32


async def test_depth_is_bounded(website: SmallSite, crawling: Crawling) -> None:
    for number in range(10):
        website.page(f"/{number}", f"/{number + 1}")
    website.page("/", "/0")
    assert (await listing(crawling(max_depth="3"))).uris == ["/", "0", "1", "2"]


async def test_a_sitemap_names_pages_that_nothing_links_to(website: SmallSite, crawling: Crawling) -> None:
    website.page("/")
    website.page("/lonely")
    website.page("/other")
    website.pages["/robots.txt"] = Page(
        f"Sitemap: {website.url}/maps.xml\nSitemap: http://10.0.0.1/x", kind="text/plain"
    )
    index = f"<sitemapindex><sitemap><loc>{website.url}/one.xml</loc></sitemap></sitemapindex>"
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    one = f"{bomb}<urlset><url><loc>{website.url}/lonely</loc></url><url><loc> &f;&b; </loc></url>"
    two = f"<url><loc><![CDATA[{website.url}/other]]></loc></url><loc>http://10.0.0.1/x</loc></urlset>"
    website.pages["/maps.xml"] = Page(index, kind="application/xml")
    website.pages["/one.xml"] = Page(one + two, kind="application/xml")
    assert (await listing(crawling())).uris == ["/", "lonely", "other"]
    assert (await listing(crawling(sitemap="no"))).uris == ["/"]


async def test_an_unchanged_website_costs_one_short_answer_for_each_page(
    website: SmallSite, crawling: Crawling
) -> None:
    website.page("/", "/a", tagged=True)
    website.page("/a", "/b", tagged=True)
    website.page("/b", tagged=True)
    first = await listing(crawling())
    before = len(website.asked)
    again = await listing(crawling(), first.known())
    assert again.known() == first.known()
    pages = [asked for asked in website.asked[before:] if asked.path in {"/a", "/b"}]
    assert len(pages) == 2
    assert all("if-none-match" in asked.headers for asked in pages)


async def test_without_what_it_remembered_a_website_is_read_anew(
    website: SmallSite, crawling: Crawling, dependencies: SourceDependencies
) -> None:
    website.page("/", "/a", tagged=True)
    website.page("/a", "/b", tagged=True)
    website.page("/b", tagged=True)
    first = await listing(crawling())
    for path in dependencies.cache.iterdir():
        path.write_bytes(b'{"/": [1, "x"], "b": 3}')
    assert (await listing(crawling(), first.known())).uris == ["/", "a", "b"]


async def test_links_are_remembered_of_the_version_that_is_indexed(website: SmallSite, crawling: Crawling) -> None:
    """A crawl whose results were lost has seen a later version than the index holds."""
    website.page("/", "/hub")
    website.page("/hub", "/a", text="first", tagged=True)
    website.page("/a")
    indexed = (await listing(crawling())).known()
    website.page("/hub", text="second", tagged=True)
    await listing(crawling(), indexed)
    website.page("/hub", "/a", text="first", tagged=True)
    assert "a" in (await listing(crawling(), indexed)).uris


async def test_pages_that_are_gone_are_not_listed_and_pages_that_fail_are(
    website: SmallSite, crawling: Crawling
) -> None:
    website.page("/", "/gone", "/fails", "/refused", "/busy")
    website.pages["/gone"] = Page(status=410)
    website.pages["/fails"] = Page(status=502)
    website.pages["/refused"] = Page(status=403)
    website.pages["/busy"] = Page(status=429, headers={"Retry-After": "1"})
    found = await listing(crawling())
    assert found.uris == ["/"]
    assert {uri: failed.passing for uri, failed in found.failed.items()} == {
        "fails": True,
        "refused": False,
        "busy": True,
    }


async def test_pages_behind_one_that_fails_are_not_taken_for_gone(
    website: SmallSite, crawling: Crawling, dependencies: SourceDependencies
) -> None:
    website.page("/", "/hub")
    website.page("/hub", "/a", "/b")
    website.page("/a")
    website.page("/b")
    known = (await listing(crawling())).known()
    website.pages["/hub"] = Page(status=500)
    found = await listing(crawling(), known)
    assert found.uris == ["/", "a", "b"]
    assert found.failed["hub"].passing
    for path in dependencies.cache.iterdir():
        path.unlink()
    assert (await listing(crawling(), known)).uris == ["/", "a", "b"]


async def test_a_website_that_stops_working_breaks_the_listing_off(website: SmallSite, crawling: Crawling) -> None:
    website.page("/", *(f"/{number}" for number in range(20)))
    for number in range(20):
        website.pages[f"/{number}"] = Page(status=503)
    with pytest.raises(SourceUnavailable, match="does not work"):
        await listing(crawling())


@pytest.mark.parametrize("status", [404, 403, 500])
async def test_a_start_page_that_is_out_of_reach_empties_nothing(
    website: SmallSite, crawling: Crawling, status: int
) -> None:
    website.pages["/"] = Page(status=status)
    with pytest.raises(SourceUnavailable, match=str(status)):
        await listing(crawling())


@pytest.mark.parametrize("target", ["https://parking.example/", "/login"])
async def test_a_start_page_that_leads_elsewhere_empties_nothing(
    website: SmallSite, crawling: Crawling, target: str
) -> None:
    website.redirect("/docs/", target)
    website.page("/login")
    with pytest.raises(SourceUnavailable, match="leads to"):
        await listing(crawling("/docs/"))


async def test_a_start_page_at_a_private_address_is_refused(
    website: SmallSite, crawling: Crawling, dependencies: SourceDependencies
) -> None:
    website.page("/")
    with pytest.raises(SourceUnavailable, match="private or special"):
        await listing(crawling("/", replace(dependencies, allowed_networks=())))


async def test_a_crawl_goes_on_where_it_was_interrupted(website: SmallSite, crawling: Crawling) -> None:
    website.page("/", *(f"/{number}" for number in range(6)))
    for number in range(6):
        website.page(f"/{number}", "/", f"/{(number + 1) % 6}", f"/{number}/sub")
        website.page(f"/{number}/sub")
    everything = await listing(crawling())
    before: list[str] = []
    cursor = None
    async for listed in crawling().list({}, None):
        if isinstance(listed, SourceItem):
            before.append(listed.uri)
            cursor = listed.cursor
        if len(before) == 4:
            break
    assert cursor is not None
    assert len(cursor) < 64_000
    assert orjson.loads(cursor)["visited"] == 4
    rest = await listing(crawling(), {}, cursor)
    assert sorted([*before, *rest.uris]) == everything.uris


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "null",
        "[]",
        "{}",
        '{"visited": "a"}',
        '{"visited":1,"origin":"http://other.example","seen":"","queue":[]}',
    ],
)
async def test_a_cursor_that_means_nothing_begins_anew(website: SmallSite, crawling: Crawling, cursor: str) -> None:
    website.page("/", "/a")
    website.page("/a")
    assert (await listing(crawling(), {}, cursor)).uris == ["/", "a"]


async def test_pages_that_are_left_out_by_the_operator_are_not_visited(website: SmallSite, crawling: Crawling) -> None:
    website.page("/", "/archive/1", "/logo.png", "/a")
    website.page("/a")
    assert (await listing(crawling(exclude="archive/**"))).uris == ["/", "a"]
    assert not {"/archive/1", "/logo.png"} & set(website.paths)


async def test_hostile_pages_are_only_pages(website: SmallSite, crawling: Crawling) -> None:
    nasty = (
        '<base href="http://10.0.0.1/"><a href="//[">x</a><a href="http://127.0.0.1:99999/">y</a><a href>z</a>'
        + '<a href="javascript:alert(1)">j</a><a href="http://a:b@127.0.0.1/">k</a><a href="/\udcff">l</a>'.encode(
            "utf-8", "replace"
        ).decode()
        + "<div>" * 50_000
    )
    website.pages["/"] = Page(nasty)
    assert (await listing(crawling())).uris == ["/"]


async def test_a_manual_that_a_page_links_to_is_brought_too(website: SmallSite, crawling: Crawling) -> None:
    website.page("/", "/manual.pdf", "/film")
    website.pages["/manual.pdf"] = Page(b"%PDF-1.4", kind="application/pdf")
    website.pages["/film"] = Page(b"....", kind="video/mp4")
    found = await listing(crawling())
    assert found.uris == ["/", "manual.pdf"]
    assert (await found.bring("manual.pdf")).media_type == "application/pdf"
