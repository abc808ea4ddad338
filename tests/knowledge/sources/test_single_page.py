"""A single page: what is fetched, how much of it, and from where."""

import gzip
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from gaby.knowledge.documents import Unreadable
from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.guard import Address, AddressGuard, AddressRefused
from gaby.knowledge.sources.limits import SourceLimits
from gaby.knowledge.sources.source import DocumentSource, SourceUnavailable
from gaby.knowledge.sources.web_client import RedirectRefused, WebClient, WebRequest, WebResponse, redirect_target
from tests.knowledge.sources.conftest import Opening, Sleeper
from tests.support.knowledge.git_https import git_https
from tests.support.knowledge.listing import listing
from tests.support.knowledge.website import Page, SmallSite

pytestmark = pytest.mark.promise("K1")


PageAt = Callable[..., DocumentSource]


@pytest.fixture
def source(opening: Opening) -> PageAt:
    def make(url: str, dependencies: SourceDependencies | None = None) -> DocumentSource:
        return opening(SourceConfig("url", url), dependencies)

    return make


def _limited(dependencies: SourceDependencies, most: int = 100_000, seconds: float = 5.0) -> SourceDependencies:
    limits = replace(dependencies.limits, document_bytes=most, request_seconds=seconds)
    return replace(dependencies, limits=limits)


async def test_a_page_is_brought_as_its_server_sent_it(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    website.pages["/guide/start.html"] = Page("<p>h\xe9llo</p>".encode("latin-1"), kind="text/html; charset=ISO-8859-1")
    page = source(f"{website.url}/guide/start.html#part")
    found = await listing(page)
    brought = await found.bring("guide/start.html")
    assert (brought.data, brought.media_type, brought.charset) == (b"<p>h\xe9llo</p>", "text/html", "iso-8859-1")
    assert brought.link == f"{website.url}/guide/start.html"
    assert website.asked[0].headers["user-agent"].startswith("Gaby/")
    assert website.count("/guide/start.html") == 1


async def test_an_unchanged_page_costs_one_short_answer(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    website.page("/", tagged=True)
    page = source(website.url)
    first = await listing(page)
    again = await listing(page, first.known())
    assert again.known() == first.known()
    assert "if-none-match" in website.asked[-1].headers
    assert "if-none-match" not in website.asked[0].headers
    assert b"<p>/</p>" in (await again.bring("/")).data
    website.page("/", text="changed", tagged=True)
    assert (await listing(page, first.known())).known() != first.known()


@pytest.mark.parametrize("status", [404, 410])
async def test_a_page_that_is_gone_is_not_listed(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies, status: int
) -> None:
    website.pages["/a"] = Page("gone", status=status)
    found = await listing(source(f"{website.url}/a"), {"a": "x"})
    assert (found.uris, found.failed, found.total) == ([], {}, 0)


@pytest.mark.parametrize("status", [401, 403, 500, 502])
async def test_a_page_that_cannot_be_had_now_is_not_taken_for_gone(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies, status: int
) -> None:
    website.pages["/a"] = Page(status=status)
    with pytest.raises(SourceUnavailable, match=str(status)):
        await listing(source(f"{website.url}/a"))


async def test_redirects_are_followed_five_times_and_no_more(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    website.page("/5")
    for number in range(5):
        website.redirect(f"/{number}", f"/{number + 1}")
    found = await listing(source(f"{website.url}/0"))
    assert (await found.bring("0")).link == f"{website.url}/5"
    website.redirect("/5", "/0")
    with pytest.raises(SourceUnavailable, match="more than 5 times"):
        await listing(source(f"{website.url}/0"))


@pytest.mark.parametrize(
    "target",
    ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://[::ffff:10.0.0.1]/"],
)
async def test_a_redirect_to_a_private_address_is_refused(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies, target: str
) -> None:
    website.redirect("/", target)
    with pytest.raises(SourceUnavailable, match="private or special"):
        await listing(source(website.url))


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://files.example/", "http://user:pass@h.example/", "http://["]
)
async def test_a_redirect_to_what_is_no_page_is_refused(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies, target: str
) -> None:
    website.redirect("/", target)
    with pytest.raises(SourceUnavailable, match="no page"):
        await listing(source(website.url))


async def test_without_leave_this_machine_is_not_called(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    with pytest.raises(SourceUnavailable, match="private or special"):
        await listing(source(website.url, replace(dependencies, allowed_networks=())))
    assert website.asked == []


async def test_a_page_that_is_too_large_is_cut_off_and_named(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    website.pages["/"] = Page(b"x" * 300_000)
    found = await listing(source(website.url, _limited(dependencies)))
    assert "more than" in found.failed["/"].reason


@pytest.mark.parametrize("form", ["gzip", "deflate", "gzip, gzip"])
async def test_a_bomb_is_not_unpacked_to_its_end(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies, form: str
) -> None:
    plain = b"\0" * 30_000_000
    packed = {"gzip": gzip.compress(plain), "deflate": zlib.compress(plain)}.get(form) or gzip.compress(
        gzip.compress(plain)
    )
    assert len(packed) < 50_000
    website.pages["/"] = Page(packed, headers={"Content-Encoding": form})
    found = await listing(source(website.url, _limited(dependencies)))
    assert "more than" in found.failed["/"].reason


async def test_a_compressed_page_is_read(website: SmallSite, source: PageAt, dependencies: SourceDependencies) -> None:
    website.pages["/"] = Page(gzip.compress(b"<p>hello</p>"), headers={"Content-Encoding": "gzip"})
    assert (await (await listing(source(website.url))).bring("/")).data == b"<p>hello</p>"


@pytest.mark.parametrize(("form", "reason"), [("gzip", "not compressed"), ("br", "does not know"), ("zstd", "know")])
async def test_a_wrong_word_about_compression_is_no_rubbish_in_the_index(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies, form: str, reason: str
) -> None:
    website.pages["/"] = Page("<p>plain</p>", headers={"Content-Encoding": form})
    assert reason in (await listing(source(website.url))).failed["/"].reason


@pytest.mark.parametrize("charset", ["klingon", "utf-8\u20ac", "", '"', "base64", "\0"])
async def test_a_charset_that_nobody_knows_is_left_to_the_reader(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies, charset: str
) -> None:
    kind = f"text/html; charset={charset}".encode().decode("latin-1").replace("\0", "")
    website.pages["/"] = Page("<p>x</p>", kind=kind)
    assert (await (await listing(source(website.url))).bring("/")).charset is None


async def test_a_server_that_says_nothing_is_given_up(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    website.pages["/"] = Page(silent=True)
    with pytest.raises(SourceUnavailable, match="in time"):
        await listing(source(website.url, _limited(dependencies, seconds=0.2)))


async def test_half_a_page_is_never_taken_for_a_page(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    website.pages["/"] = Page("<p>long</p>" * 100, broken_off=True)
    with pytest.raises(SourceUnavailable, match="broke off"):
        await listing(source(website.url))


async def test_a_picture_is_named_as_what_it_is_and_not_fetched(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    website.pages["/logo"] = Page(b"\x89PNG", kind="image/png")
    assert "image/png" in (await listing(source(f"{website.url}/logo"))).failed["logo"].reason


async def test_a_busy_server_is_asked_again_after_the_pause_it_names(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies, sleeper: Sleeper
) -> None:
    website.pages["/"] = Page(status=429, headers={"Retry-After": "7"})
    with pytest.raises(SourceUnavailable, match="429"):
        await listing(source(website.url))
    assert sleeper.waits == [7.0, 7.0, 7.0]
    website.pages["/"] = Page(status=503, headers={"Retry-After": "9000"})
    with pytest.raises(SourceUnavailable):
        await listing(source(website.url))
    assert len(sleeper.waits) == 3


async def test_cookies_are_not_kept(website: SmallSite, source: PageAt, dependencies: SourceDependencies) -> None:
    website.pages["/"] = Page("<p>x</p>", headers={"Set-Cookie": "id=1; Path=/"})
    page = source(website.url)
    await listing(page)
    await listing(page)
    assert all("cookie" not in received.headers for received in website.asked)


async def test_a_page_that_goes_away_before_it_is_read_again_is_unreadable(
    website: SmallSite, source: PageAt, dependencies: SourceDependencies
) -> None:
    website.page("/", tagged=True)
    page = source(website.url)
    found = await listing(page, (await listing(page)).known())
    website.pages["/"] = Page(status=404)
    with pytest.raises(Unreadable, match="no longer there"):
        await found.bring("/")
    website.pages["/"] = Page(status=500)
    with pytest.raises(SourceUnavailable):
        await found.bring("/")


async def test_a_certificate_is_for_the_name_and_not_for_the_address(
    source: PageAt, dependencies: SourceDependencies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def here(host: str, port: int) -> Sequence[Address]:
        return [ip_address("127.0.0.1")]

    with git_https(tmp_path, "docs.company.example", "token") as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        with pytest.raises(SourceUnavailable, match="401"):
            await listing(source(server.url("x"), replace(dependencies, resolve=here)))
        other = server.url("x").replace("docs.company.example", "other.example")
        with pytest.raises(SourceUnavailable, match=r"certificate of other\.example is not valid"):
            await listing(source(other, replace(dependencies, resolve=here)))


def test_a_redirect_from_https_to_http_is_refused() -> None:
    reply = WebResponse("https://docs.company.example/", 302, {"location": "http://docs.company.example/"}, None)
    with pytest.raises(RedirectRefused, match="from https to http"):
        redirect_target(reply)


async def test_what_was_meant_for_one_address_is_not_told_to_the_next(website: SmallSite) -> None:
    website.redirect("/", "/next")
    website.page("/next")
    web = WebClient(AddressGuard(("127.0.0.0/8",)), SourceLimits())
    await web.get(WebRequest(f"{website.url}/", {"Authorization": "Bearer token"}))
    await web.close()
    assert [received.headers.get("authorization") for received in website.asked] == ["Bearer token", None]


@pytest.mark.promise("S9")
async def test_a_refusal_names_the_host_and_not_where_it_leads() -> None:
    async def resolve(host: str, port: int) -> Sequence[Address]:
        return [ip_address("10.20.30.40")]

    with pytest.raises(AddressRefused) as refused:
        await AddressGuard(resolve=resolve).resolve_async("intranet.acme.example", 443)
    assert "intranet.acme.example" in str(refused.value)
    assert "10.20.30.40" not in str(refused.value)
