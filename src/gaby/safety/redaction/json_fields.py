"""Fields of JSON that stands inside of a text: what they hold is as personal there as in a structured result.

The text is not parsed as a whole: results are cut off, several objects follow one another, a sentence stands before.
"""

import re
from collections.abc import Collection, Iterator

from gaby.safety.redaction.fields import FieldHints, Path, is_plain_fact, kind_of_field
from gaby.safety.redaction.spans import Kind, SpanCertainty, TextSpan

_TOKEN = re.compile(r'"(?:[^"\\]|\\.){0,20000}+"|[{}\[\]:,]|-?[0-9][0-9.eE+\-]{0,30}+|true|false|null')
_DEPTH = 64
_MARK = re.compile(r'"\s{0,8}:')
_ESCAPE = re.compile(r"\\(.)")


def find_json_fields(text: str, hints: FieldHints, kinds: Collection[Kind]) -> Iterator[TextSpan]:
    """Where values stand whose field is personal by its name, or by a hint."""
    if "{" not in text or not _MARK.search(text):
        return
    reader = _JsonFieldParser(hints, kinds)
    for token in _TOKEN.finditer(text):
        yield from reader.take(token)


class _JsonFieldParser:
    def __init__(self, hints: FieldHints, kinds: Collection[Kind]) -> None:
        self._hints = hints
        self._kinds = kinds
        self._steps: list[str] = []
        """The keys and places that lead to where the reader is."""
        self._forced: list[Kind | None] = [None]
        self._last: re.Match[str] | None = None
        self._is_value = False

    def take(self, token: re.Match[str]) -> Iterator[TextSpan]:
        mark = token[0]
        if mark in "{[":
            self._open(mark)
        elif mark in "}]":
            self._close()
        elif mark == ":":
            self._name()
        elif mark == ",":
            self._next()
        else:
            self._last = token
            if self._is_value:
                yield from self._value(token)

    def _open(self, mark: str) -> None:
        if len(self._steps) >= _DEPTH:
            self._steps, self._forced = [], [None]
        self._forced.append(self._kind(holds_value=False))
        self._steps.append("0" if mark == "[" else "")
        self._is_value = mark == "["

    def _close(self) -> None:
        if self._steps:
            self._steps.pop()
            self._forced.pop()
        self._is_value = False

    def _name(self) -> None:
        if self._steps and self._last is not None and self._last[0].startswith('"'):
            self._steps[-1] = _ESCAPE.sub(r"\1", self._last[0][1:-1])
            self._is_value = True

    def _next(self) -> None:
        if self._steps and self._steps[-1].isdigit():
            self._steps[-1] = str(int(self._steps[-1][:9]) + 1)
        else:
            self._is_value = False

    def _kind(self, *, holds_value: bool) -> Kind | None:
        if forced := self._forced[-1]:
            return forced
        if self._hints and (hinted := self._hints.kind_at(self._path())):
            return hinted
        named = kind_of_field(self._name_here())
        return named if named in self._kinds and (holds_value or named is None) else None

    def _value(self, token: re.Match[str]) -> Iterator[TextSpan]:
        if token[0] in {"true", "false", "null"}:
            return
        kind = self._kind(holds_value=True)
        is_text = token[0].startswith('"')
        start, end = (token.start() + 1, token.end() - 1) if is_text else token.span()
        value = token[0][1:-1] if is_text else float(token[0]) if _is_number(token[0]) else token[0]
        if kind and start < end and (self._is_hinted() or not is_plain_fact(kind, self._name_here(), value)):
            yield TextSpan(start, end, kind, SpanCertainty.SURE)

    def _is_hinted(self) -> bool:
        return bool(self._forced[-1] or (self._hints and self._hints.kind_at(self._path())))

    def _path(self) -> Path:
        return tuple(step for step in self._steps if step)

    def _name_here(self) -> str:
        return next((step for step in reversed(self._steps) if step and not step.isdigit()), "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
