"""robots.txt, sitemaps, and what a page says of itself."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.sources.pages import read_page_links
from gaby.knowledge.sources.robots import RobotsRules, read_robots
from gaby.knowledge.sources.sitemap import is_index, locations, unpacked
from gaby.knowledge.sources.urls import SiteScope, canonical, uri_of

pytestmark = pytest.mark.promise("K1")


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
        ("User-agent: *\nDisallow: /*?", "/x?y", False),
        ("User-agent: *\nDisallow: /a$", "/a", False),
        ("User-agent: *\nDisallow: /a$", "/ab", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Gaby\nDisallow: /x", "/a", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Gaby/1.0\nDisallow: /x", "/x", False),
        ("User-agent: other\nUser-agent: gaby\nDisallow: /x", "/x", False),
        ("Disallow: /x\nUser-agent: *\nAllow: /", "/x", True),
        ("\ufeffuser-agent : *  # all\nDISALLOW : /x # no", "/x", False),
        ("<html>not found</html>", "/a", True),
    ],
)
def test_rules_mean_what_the_standard_says(rules: str, path: str, allowed: bool) -> None:
    assert read_robots(rules).allows(path) is allowed


def test_a_pattern_that_is_made_to_take_long_does_not() -> None:
    rules = read_robots("User-agent: *\nDisallow: /" + "*a" * 2000 + "$\nCrawl-delay: 1.5")
    assert rules.allows("/" + "a" * 1000 + "b")
    assert rules.delay == 1.5


@given(st.text(max_size=300), st.text(max_size=50))
def test_no_robots_txt_breaks_the_crawl(rules: str, path: str) -> None:
    robots_rules = read_robots(f"User-agent: *\n{rules}")
    assert isinstance(robots_rules, RobotsRules)
    assert robots_rules.allows(path) in {True, False}


@given(st.text(max_size=300))
def test_no_sitemap_breaks_the_crawl(text: str) -> None:
    assert isinstance(locations(f"<urlset><loc>{text}"), list)
    assert is_index(text) in {True, False}


def test_a_packed_sitemap_is_unpacked_only_so_far() -> None:
    assert locations(unpacked(gzip.compress(b"<loc>https://a.example/</loc>"))) == ["https://a.example/"]
    assert len(unpacked(gzip.compress(b" " * 60_000_000))) == 20_000_000
    assert unpacked(b"\x1f\x8bnonsense") == ""


@given(st.binary(max_size=300))
def test_no_page_breaks_the_crawl(html: bytes) -> None:
    page_links = read_page_links(b'<a href="' + html, "https://a.example/", None, "")
    assert all(link.startswith(("https://", "http://")) for link in page_links.links)


@pytest.mark.parametrize(
    "piece", [b"<div>", b'<a href="x">', b"<!--", b"<a ", b'<a href="', b"<meta name=robots content="]
)
def test_a_page_that_is_made_to_take_long_does_not(piece: bytes) -> None:
    assert read_page_links(piece * 100_000, "https://a.example/", None, "") is not None


@pytest.mark.parametrize(
    ("link", "whole"),
    [
        ("b", "https://a.example/x/b"),
        ("../b/./c#part", "https://a.example/b/c"),
        ("?b=2&a=1", "https://a.example/x/y?a=1&b=2"),
        ("HTTPS://A.EXAMPLE:443//c//d", "https://a.example/c/d"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("mailto:a@b.example", None),
        ("javascript:alert(1)", None),
        ("https://u:p@a.example/", None),
        ("https://[", None),
        ("https://a.example:99999/", None),
        ("/" + "x" * 2000, None),
    ],
)
def test_every_page_has_one_spelling(link: str, whole: str | None) -> None:
    assert canonical(link, "https://a.example/x/y") == whole


@given(st.text(max_size=100))
def test_a_spelling_does_not_change_when_it_is_taken_again(link: str) -> None:
    found = canonical(link, "https://a.example/x/y")
    assert found is None or canonical(found) == found


@pytest.mark.parametrize(
    ("start", "inside", "outside"),
    [
        ("https://a.example/", "https://a.example/x", "https://b.example/x"),
        ("https://a.example/docs", "https://a.example/docs/x", "https://a.example/docs2"),
        ("https://a.example/docs/index.html", "https://a.example/docs/x", "https://a.example/x"),
        ("https://a.example/", "https://a.example/", "http://a.example/"),
        ("https://a.example/", "https://a.example/y", "https://a.example:8443/y"),
    ],
)
def test_a_website_is_one_host_and_what_lies_below_its_start(start: str, inside: str, outside: str) -> None:
    site = SiteScope.around(start)
    assert site.contains(inside)
    assert not site.contains(outside)
    assert site.url(uri_of(inside)) == inside
