"""Confluence's storage format to HTML: what people wrote stays, what a macro would have made is left out."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

from gaby.knowledge.parsers.html_tokens import HtmlToken, attributes, tokens

_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_DEEPEST = 100
"""Tags within tags; those further in count as nothing but their words."""
_MACROS = frozenset({"ac:structured-macro", "ac:macro"})
_CODE = frozenset({"code", "noformat"})
_PANELS = frozenset({"info", "note", "warning", "tip", "panel"})
_DROPPED = frozenset({"ac:image", "ac:emoticon", "ac:placeholder", "ac:task-id", "script", "style"})
_RENAMED = {"ac:task-list": "ul", "ac:task": "li", "ac:task-body": "span"}
_VOID = frozenset({"br", "hr", "img", "col", "wbr"})
_KEPT_ATTRIBUTES = ("href", "colspan", "rowspan")
# What an element tells the one around it, instead of standing there itself.
_TOLD = {
    "ac:plain-text-body": "plain",
    "ac:rich-text-body": "rich",
    "ac:link-body": "label",
    "ac:plain-text-link-body": "label",
}
_TARGETS = {"ri:page": "ri:content-title", "ri:attachment": "ri:filename"}


@dataclass
class _OpenElement:
    name: str
    said: dict[str, str]
    parts: list[str] = field(default_factory=list[str])
    told: dict[str, str] = field(default_factory=dict[str, str])
    """By the elements in it, as HTML."""


def as_html(storage: str) -> str:
    page = _StorageConverter()
    # Behind the last end there are only openings without one, each of which would be searched for to the end.
    closed, end, rest = storage.rpartition("]]>")
    for token in tokens(_CDATA.sub(lambda match: escape(match[1]), closed + end) + rest):
        page.take(token)
    return page.finished()


class _StorageConverter:
    def __init__(self) -> None:
        self._open = [_OpenElement("", {})]

    def take(self, token: HtmlToken) -> None:
        if not token.name:
            self._open[-1].parts.append(escape(token.value, quote=False))
        elif token.name.startswith("/"):
            self._end(token.name[1:])
        elif len(self._open) <= _DEEPEST:
            self._open.append(_OpenElement(token.name, attributes(token.value)))
            if token.value.endswith("/") or token.name in _VOID:
                self._close()

    def finished(self) -> str:
        while len(self._open) > 1:
            self._close()
        return "".join(self._open[0].parts)

    def _end(self, name: str) -> None:
        """With those in it whose end was left out. An end of nothing is nothing."""
        if any(element.name == name for element in self._open):
            while self._open[-1].name != name:
                self._close()
            self._close()

    def _close(self) -> None:
        element = self._open.pop()
        self._open[-1].parts.append(_meaning(element, "".join(element.parts), self._open[-1].told))


def _meaning(element: _OpenElement, inner: str, around: dict[str, str]) -> str:
    """The HTML that stands for it; `around` is what it tells the element that it is in."""
    if element.name in _TOLD:
        around[_TOLD[element.name]] = inner
    elif element.name == "ac:parameter":
        around[f"parameter {element.said.get('ac:name', '')}"] = inner.strip()
    elif element.name in _TARGETS:
        around["target"] = escape(element.said.get(_TARGETS[element.name], ""))
    elif element.name in _SPECIAL:
        return _SPECIAL[element.name](element, inner)
    elif element.name not in _DROPPED and not element.name.startswith("ri:"):
        return _element(element, inner)
    return ""


def _element(element: _OpenElement, inner: str) -> str:
    if ":" in element.name and element.name not in _RENAMED:
        return inner
    name = _RENAMED.get(element.name, element.name)
    kept = "".join(f' {each}="{escape(value)}"' for each in _KEPT_ATTRIBUTES if (value := element.said.get(each)))
    return f"<{name}{kept}>" if name in _VOID else f"<{name}{kept}>{inner}</{name}>"


def _macro(element: _OpenElement, _: str) -> str:
    name = element.said.get("ac:name", "")
    if name in _CODE:
        language = element.told.get("parameter language")
        kind = f' class="language-{language}"' if language else ""
        return f"<pre><code{kind}>{element.told.get('plain', '')}</code></pre>"
    if "rich" not in element.told:
        return ""
    title = element.told.get("parameter title")
    heading = f"<p><strong>{title}</strong></p>" if title else ""
    around = "blockquote" if name in _PANELS else "div"
    return f"<{around}>{heading}{element.told['rich']}</{around}>"


def _link(element: _OpenElement, _: str) -> str:
    return element.told.get("label") or element.told.get("target", "")


def _status(_: _OpenElement, inner: str) -> str:
    return "[x] " if inner.strip() == "complete" else "[ ] "


def _time(element: _OpenElement, inner: str) -> str:
    return escape(element.said.get("datetime", "")) + inner


_SPECIAL: dict[str, Callable[[_OpenElement, str], str]] = {
    **dict.fromkeys(_MACROS, _macro),
    "ac:link": _link,
    "ac:task-status": _status,
    "time": _time,
}
