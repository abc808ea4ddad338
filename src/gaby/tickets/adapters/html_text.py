"""HTML as the words that a reader sees."""

import re
from collections.abc import Iterator
from html import unescape

_MOST_HTML = 2_000_000
_TAG = re.compile(r"(/?)([a-zA-Z][a-zA-Z0-9]{0,20})")
_HREF = re.compile(r"\bhref\s{0,9}=\s{0,9}[\"']?(https?://[^\s\"'<>]{1,2000})", re.IGNORECASE)
_ALT = re.compile(r"\balt\s{0,9}=\s{0,9}[\"']([^\"']{1,200})", re.IGNORECASE)
# What a reader of the mail does not see, Gaby does not read either.
_UNSEEN = re.compile(
    r"display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden"
    r"|(?:font-size|opacity|max-height)\s{0,9}:\s{0,9}0(?![.\d]*[1-9])",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"\shidden(?![\w-])", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_DROPPED = frozenset(
    ("script", "style", "head", "title", "template", "noscript", "svg", "object", "textarea", "select")
)
_BLOCKS = frozenset(
    (
        *("p", "div", "br", "tr", "table", "ul", "ol", "dl", "dt", "dd", "pre", "hr", "blockquote", "section"),
        *("article", "header", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "address", "form", "center"),
    )
)
_VOID = frozenset(
    ("br", "hr", "img", "input", "link", "meta", "wbr", "area", "base", "col", "embed", "source", "track")
)
_SPACES = re.compile(r"[ \t\r\n\f\u00a0]+")
_LINE_SPACES = re.compile(r"[ \t]*\n[ \t]*")
_BLANK_LINES = re.compile(r"\n{3,}")


def html_to_text(page: str) -> str:
    """Takes time in proportion to the page; a tag that never ends is the last one."""
    reading = _TextExtractor()
    for name, value in _tokens(page[:_MOST_HTML]):
        if name:
            reading.tag(name, value)
        else:
            reading.text(value)
    return reading.finished()


class _TextExtractor:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._unseen = ""
        self._depth = 0
        self._link = ""

    def text(self, value: str) -> None:
        if not self._unseen:
            self._parts.append(_SPACES.sub(" ", unescape(value)))

    def tag(self, name: str, written: str) -> None:
        closing, name = name.startswith("/"), name.lstrip("/").lower()
        if self._unseen:
            self._count(name, closing=closing)
        elif not closing and (name in _DROPPED or _is_unseen(written[:2000])):
            if name not in _VOID:
                self._unseen, self._depth = name, 1
        elif name == "a":
            self._anchor(written, closing=closing)
        else:
            self._seen(name, written, closing=closing)

    def _count(self, name: str, *, closing: bool) -> None:
        if self._unseen == "head" and name == "body":
            self._unseen = ""
        elif name == self._unseen:
            # A paragraph ends where the next one begins.
            self._depth += -1 if closing or name == "p" else 1
            if self._depth == 0:
                self._unseen = ""
                self._parts.append("\n" if name in _BLOCKS else "")

    def _seen(self, name: str, written: str, *, closing: bool) -> None:
        if name in _BLOCKS:
            self._parts.append("\n" if name in ("br", "tr", "div") else "\n\n")
        elif name == "li" and not closing:
            self._parts.append("\n- ")
        elif name in ("td", "th") and closing:
            self._parts.append(" ")
        elif name == "img" and (match := _ALT.search(written[:4000])):
            self._parts.append(unescape(match[1]))

    def _anchor(self, written: str, *, closing: bool) -> None:
        if not closing:
            match = _HREF.search(written[:4000])
            self._link = unescape(match[1]) if match else ""
        elif self._link:
            # A text may say another address than the one it leads to, so both are read.
            if self._parts and self._parts[-1].strip() != self._link:
                self._parts.append(f" ({self._link})")
            self._link = ""

    def finished(self) -> str:
        text = _LINE_SPACES.sub("\n", "".join(self._parts))
        return _BLANK_LINES.sub("\n\n", re.sub(r" {2,}", " ", text)).strip()


def _is_unseen(written: str) -> bool:
    return bool(_UNSEEN.search(written) or _HIDDEN.search(_QUOTED.sub("", written)))


def _tokens(page: str) -> Iterator[tuple[str, str]]:
    """A tag has a name, with a slash when it closes, and what is written in it; a text has no name."""
    position = 0
    while (start := page.find("<", position)) >= 0:
        if start > position:
            yield "", page[position:start]
        if page.startswith("<!--", start):
            end = page.find("-->", start + 4)
            position = end + 3 if end >= 0 else len(page)
            continue
        match = _TAG.match(page, start + 1)
        if match is None and page[start + 1 : start + 2] not in ("!", "?", "/"):
            yield "", "<"
            position = start + 1
            continue
        end = page.find(">", start)
        if end < 0:
            return
        if match is not None:
            yield match[1] + match[2], page[match.end() : end]
        position = end + 1
    if position < len(page):
        yield "", page[position:]
