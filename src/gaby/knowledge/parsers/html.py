"""HTML: the words that a visitor sees, as Markdown. Nothing that a page refers to is fetched or run."""

import re

from gaby.knowledge.parsers.html_tokens import HtmlToken, attributes, tokens
from gaby.knowledge.parsers.html_writer import MarkdownWriter
from gaby.knowledge.parsers.markdown import plain_words
from gaby.knowledge.parsers.text_encodings import decode

_DECLARED = re.compile(rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?([\w-]{2,40})", re.IGNORECASE)
_DECLARED_WITHIN = 4096
_MAIN = re.compile(r"<main[\s>]|<[a-z]+\s[^<>]{0,200}\brole=[\"']?main\b", re.IGNORECASE)
_DROPPED = frozenset(
    (
        *("script", "style", "noscript", "template", "nav", "footer", "svg", "iframe", "object", "canvas", "video"),
        *("audio", "select", "button", "textarea", "xmp", "noembed", "noframes", "title", "menu", "datalist"),
    )
)
_VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img"),
        *("input", "link", "meta", "param", "source", "track", "wbr"),
    )
)
# Their end may be left out, so they never hold others open.
_LOOSE = frozenset(
    (
        *("p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot"),
        *("option", "optgroup", "colgroup", "rp", "rt"),
    )
)
_DROPPED_ROLES = frozenset(("navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog"))
_UNSEEN = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity)\s*:\s*0(?![.\d]*[1-9]))",
    re.IGNORECASE,
)
_ANCHORS = frozenset(("headerlink", "anchor", "header-anchor", "hash-link", "anchorjs-link"))
_TELLING = re.compile(r"hidden|style|role|class|open", re.IGNORECASE)


def html_text(data: bytes, charset: str | None) -> tuple[str | None, str]:
    """The title and the text."""
    declared = _DECLARED.search(data[:_DECLARED_WITHIN])
    page = decode(data, charset or (declared[1].decode("ascii") if declared else None))
    reading = _HtmlVisibility(asides=bool(_MAIN.search(page)))
    for token in tokens(page):
        reading.take(token)
    text = reading.writer.finished()
    return reading.title or reading.writer.first_heading, text


class _HtmlVisibility:
    """Which of the tags are open, and whether what is in them is seen."""

    def __init__(self, *, asides: bool) -> None:
        self.writer = MarkdownWriter()
        self.title: str | None = None
        self._asides = asides
        self._open: list[str] = []
        self._counts: dict[str, int] = {}
        self._unseen_below: int | None = None
        self._unseen_loose = ""
        self._in_title = False

    def take(self, token: HtmlToken) -> None:
        name = token.name
        if not name:
            self._text(token.value)
        elif name[0] == "/":
            self._close(name[1:])
        else:
            self._begin(name, token.value)

    def _text(self, value: str) -> None:
        if self._in_title and self.title is None:
            self.title = plain_words(value) or None
        elif self._unseen_below is None:
            self.writer.text(value)

    def _begin(self, name: str, written: str) -> None:
        self._in_title = name == "title" and not self._counts.get("svg")
        if self._unseen_loose and name in _LOOSE and len(self._open) == self._unseen_below:
            self._show_again()
        if self._unseen_below is None:
            if not self._is_unseen(name, written):
                self.writer.begin(name, written)
            elif name not in _VOID:
                self._unseen_below = len(self._open)
                self._unseen_loose = name if name in _LOOSE else ""
        if name not in _VOID and name not in _LOOSE:
            self._open.append(name)
            self._counts[name] = self._counts.get(name, 0) + 1

    def _close(self, name: str) -> None:
        self._in_title = False
        if name in _LOOSE:
            self._close_loose(name)
            return
        if not self._counts.get(name):
            return
        last = ""
        while last != name:
            last = self._open.pop()
            self._counts[last] -= 1
            self._end(last)

    def _end(self, name: str) -> None:
        if self._unseen_below is None:
            self.writer.end(name)
        elif self._unseen_loose and len(self._open) < self._unseen_below:
            self._show_again()
            self.writer.end(name)
        elif len(self._open) == self._unseen_below and not self._unseen_loose:
            self._show_again()

    def _close_loose(self, name: str) -> None:
        if self._unseen_below is None:
            self.writer.end(name)
        elif name == self._unseen_loose and len(self._open) == self._unseen_below:
            self._show_again()

    def _show_again(self) -> None:
        self._unseen_below, self._unseen_loose = None, ""

    def _is_unseen(self, name: str, written: str) -> bool:
        if name in _DROPPED or (name == "aside" and not self._asides):
            return True
        if not _TELLING.search(written):
            return name == "dialog"
        said = attributes(written)
        return (
            said.get("hidden", "until-found").lower() != "until-found"
            or said.get("aria-hidden", "").lower() == "true"
            or said.get("role", "").lower() in _DROPPED_ROLES
            or (name == "dialog" and "open" not in said)
            or (name == "a" and not _ANCHORS.isdisjoint(said.get("class", "").lower().split()))
            or bool(_UNSEEN.search(said.get("style", "")[:2000]))
        )
