"""A small website on loopback that does as it is told, with entity tags, redirects, slowness and rubbish."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256

from tests.support.models.http_server import Exchange, HttpServer, Received


@dataclass(frozen=True)
class Page:
    body: bytes | str = b""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    tagged: bool = False
    """Whether it has an entity tag, and answers 304 to who knows it."""
    silent: bool = False
    """Whether it never answers."""
    broken_off: bool = False

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body

    @property
    def tag(self) -> str:
        return f'"{sha256(self.content).hexdigest()[:12]}"'


class SmallSite:
    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        """By path, with the query where one matters."""
        self.otherwise: Callable[[Received], Page] = lambda _: Page("Not here", status=404)
        self.asked: list[Received] = []
        self._server = HttpServer(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def paths(self) -> list[str]:
        return [received.path for received in self.asked]

    def page(self, path: str, *links: str, text: str = "", head: str = "", tagged: bool = False) -> None:
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        body = f"<html><head><title>{path}</title>{head}</head><body><p>{text or path}</p>{anchors}</body></html>"
        self.pages[path] = Page(body, tagged=tagged)

    def redirect(self, path: str, target: str) -> None:
        self.pages[path] = Page(status=302, headers={"Location": target})

    def count(self, path: str) -> int:
        return self.paths.count(path)

    def close(self) -> None:
        self._server.close()

    def find(self, received: Received) -> Page:
        query = "&".join(f"{name}={value}" for name, value in received.query.items())
        found = self.pages.get(f"{received.path}?{query}") or self.pages.get(received.path)
        return found or self.otherwise(received)

    async def _answer(self, exchange: Exchange) -> None:
        self.asked.append(exchange.received)
        page = self.find(exchange.received)
        if page.silent:
            await exchange.wait()
        headers = {"Content-Type": page.kind, **page.headers}
        if page.tagged:
            headers["ETag"] = page.tag
            if exchange.received.headers.get("if-none-match") == page.tag:
                await exchange.send(304, headers, b"")
                return
        await exchange.send(page.status, headers, page.content, cut=page.broken_off)


@contextmanager
def small_site() -> Generator[SmallSite]:
    site = SmallSite()
    try:
        yield site
    finally:
        site.close()
