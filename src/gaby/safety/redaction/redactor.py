"""Takes personal data and secrets out of texts and JSON, and leaves placeholders."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from gaby.safety.redaction.detection import recognise
from gaby.safety.redaction.dictionary import Dictionary
from gaby.safety.redaction.fields import NO_HINTS, FieldHints
from gaby.safety.redaction.json_fields import find_json_fields
from gaby.safety.redaction.json_leaves import JsonLeaves
from gaby.safety.redaction.normalized_text import SEPARATOR
from gaby.safety.redaction.placeholders import Placeholders
from gaby.safety.redaction.profiles import DEFAULT, Profile
from gaby.safety.redaction.spans import Kind, TextSpan

# As long as the separator, and as good as nothing for who reads it.
_INVISIBLE = "\u200b"
_LONG = 256
_AROUND = 200
_EDGE = 64
_WORD_BEFORE = re.compile(r"[^\W\d_][,:;]? \Z")
_WORD_AFTER = re.compile(r"[,.;:!?]? [^\W\d_]|[.!?]?\Z")
_MOST_PASSES = 8
"""Texts need one or two. A text made to need more would take for ever otherwise."""


class RedactedText(NamedTuple):
    text: str
    kinds: Counter[Kind]
    """How many of each kind were taken out."""


class RedactedValue(NamedTuple):
    value: Any
    kinds: Counter[Kind]


class Redactor:
    """What a profile calls personal, and the people known by name. Keeps nothing of any text."""

    def __init__(self, profile: Profile = DEFAULT, dictionary: Dictionary | None = None) -> None:
        self.profile = profile
        self._also = dictionary.finder(profile.kinds) if dictionary else None

    def redact(self, text: str, placeholders: Placeholders, *, from_outside: bool = False) -> RedactedText:
        """The text with placeholders. Placeholders of this run in it stay, so that redacting twice changes nothing.

        Say `from_outside=True` of what a stranger could have written: a placeholder of this run in it was copied by
        somebody, and is made to stand for nothing but itself.
        """
        leaves = JsonLeaves()
        leaves.take(text)
        kinds = self._redact(leaves, placeholders, NO_HINTS, from_outside=from_outside)
        return RedactedText(leaves.texts[0], kinds)

    def redact_value(
        self,
        value: Any,
        placeholders: Placeholders,
        *,
        hints: Mapping[str, Kind] | None = None,
        from_outside: bool = False,
    ) -> RedactedValue:
        """The same for JSON, keys too. `hints` are fields that are personal whatever they hold, see `FieldHints`."""
        field_hints = FieldHints(hints or {})
        leaves = JsonLeaves(field_hints, self.profile.kinds)
        leaves.take(value)
        before = list(leaves.texts)
        kinds = self._redact(leaves, placeholders, field_hints, from_outside=from_outside)
        return RedactedValue(value if leaves.texts == before else leaves.put(value), kinds)

    def _redact(
        self, leaves: JsonLeaves, placeholders: Placeholders, hints: FieldHints, *, from_outside: bool
    ) -> Counter[Kind]:
        kinds: Counter[Kind] = Counter()
        _defuse(leaves, placeholders, from_outside=from_outside)
        for place in leaves.json:
            text = _masked(leaves.texts[place], placeholders)
            if spans := _apart(text, list(find_json_fields(text, hints, self.profile.kinds))):
                _replace(leaves, place, spans, placeholders)
                kinds.update(span.kind for span in spans)
        for place, kind in leaves.forced.items():
            kinds[kind] += self._force(leaves, place, kind, placeholders)
        # Each pass finds what the one before uncovered, and that is near to what was taken out.
        zones = [_Zone(place, 0, len(text)) for place, text in enumerate(leaves.texts)]
        for _ in range(_MOST_PASSES):
            spans_by_text = self._find(leaves.texts, zones, placeholders)
            if not spans_by_text:
                break
            zones = list[_Zone]()
            for place, spans in spans_by_text.items():
                zones += _replace(leaves, place, spans, placeholders)
                kinds.update(span.kind for span in spans)
        return +kinds

    def _force(self, leaves: JsonLeaves, place: int, kind: Kind, placeholders: Placeholders) -> int:
        """Everything of a text but the placeholders that are in it already."""
        text = _masked(leaves.texts[place], placeholders)
        whole = TextSpan(0, len(text), kind, self.profile.at_least)
        spans = [span for span in _apart(text, [whole]) if not text[span.start : span.end].isspace()]
        if place in leaves.numbers:
            spans = [whole]
        _replace(leaves, place, spans, placeholders)
        return len(spans)

    def _find(
        self, texts: Sequence[str], zones: Sequence["_Zone"], placeholders: Placeholders
    ) -> dict[int, list[TextSpan]]:
        """What is to be taken out, by text. Short texts are looked at as one: every look has a price of its own."""
        spans_by_text: dict[int, list[TextSpan]] = {}
        short = [zone for zone in zones if zone.end - zone.start < _LONG]
        for group in ([zone] for zone in zones if zone.end - zone.start >= _LONG):
            self._scan(texts, group, placeholders, spans_by_text)
        if short:
            self._scan(texts, short, placeholders, spans_by_text)
        return spans_by_text

    def _scan(
        self,
        texts: Sequence[str],
        zones: Sequence["_Zone"],
        placeholders: Placeholders,
        spans_by_text: dict[int, list[TextSpan]],
    ) -> None:
        pieces = [texts[zone.place][zone.start : zone.end] for zone in zones]
        joined = SEPARATOR.join(pieces)
        if joined.count(SEPARATOR) >= len(pieces) or placeholders.tag in joined:
            joined = SEPARATOR.join(_masked(piece, placeholders) for piece in pieces)
        starts = [0, *accumulate(len(piece) + 1 for piece in pieces)]
        spans = recognise(joined, self.profile.kinds, at_least=self.profile.at_least, also=self._also)
        for span in _apart(joined, spans):
            number = bisect_right(starts, span.start) - 1
            zone = zones[number]
            shift = zone.start - starts[number]
            placed = span._replace(start=span.start + shift, end=span.end + shift)
            if zone.holds(placed, len(texts[zone.place])):
                spans_by_text.setdefault(zone.place, []).append(placed)


class _Zone(NamedTuple):
    """A part of a text that is still to be looked at."""

    place: int
    start: int
    end: int

    def holds(self, span: TextSpan, length: int) -> bool:
        """Whether a span stands far enough from where the text was cut, with the words that tell what it is."""
        is_after_cut = self.start > 0 and span.start < self.start + _EDGE
        is_before_cut = self.end < length and span.end > self.end - _EDGE
        return not (is_after_cut or is_before_cut)


def _defuse(leaves: JsonLeaves, placeholders: Placeholders, *, from_outside: bool) -> None:
    """What looks like a placeholder of this run, but is not, must not become one later."""
    for place, text in enumerate(leaves.texts):
        if placeholders.tag in text:
            leaves.texts[place] = placeholders.defused(text, all_of_them=from_outside)


def _masked(text: str, placeholders: Placeholders) -> str:
    """The same length, with separators where placeholders of this run stand and nowhere else."""
    if SEPARATOR in text:
        text = text.replace(SEPARATOR, _INVISIBLE)
    if placeholders.tag in text:
        text = placeholders.own.sub(lambda match: SEPARATOR * len(match[0]), text)
    return text


def _apart(text: str, spans: Sequence[TextSpan]) -> list[TextSpan]:
    """The spans without any separator in them."""
    pieces: list[TextSpan] = []
    for span in spans:
        start = span.start
        for piece in text[span.start : span.end].split(SEPARATOR):
            if piece:
                pieces.append(span._replace(start=start, end=start + len(piece)))
            start += len(piece) + 1
    return pieces


def _is_settled(text: str, span: TextSpan) -> bool:
    """Words stand around it, so that nothing else was joined to it that could be something by itself now."""
    before, after = text[max(0, span.start - 4) : span.start], text[span.end : span.end + 4]
    return _WORD_BEFORE.search(before) is not None and _WORD_AFTER.match(after) is not None


def _replace(leaves: JsonLeaves, place: int, spans: Sequence[TextSpan], placeholders: Placeholders) -> list[_Zone]:
    """Puts placeholders into a text, and says where to look again."""
    if place in leaves.numbers:
        leaves.texts[place] = placeholders.put(spans[0].kind, leaves.numbers.pop(place))
        return []
    text = leaves.texts[place]
    pieces: list[str] = []
    zones: list[_Zone] = []
    before = length = 0
    for span in spans:
        pieces += text[before : span.start], placeholders.put(span.kind, text[span.start : span.end])
        start = length + span.start - before
        length = start + len(pieces[-1])
        before = span.end
        if _is_settled(text, span):
            continue
        if zones and start - _AROUND <= zones[-1].end:
            zones[-1] = zones[-1]._replace(end=length + _AROUND)
        else:
            zones.append(_Zone(place, max(0, start - _AROUND), length + _AROUND))
    leaves.texts[place] = "".join(pieces) + text[before:]
    total = len(leaves.texts[place])
    return [zone._replace(end=min(total, zone.end)) for zone in zones]
