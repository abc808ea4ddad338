"""Takes personal data and secrets out of texts and JSON, and leaves placeholders."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from gaby.safety.redaction.dictionary import Dictionary
from gaby.safety.redaction.fields import Hints
from gaby.safety.redaction.leaves import Leaves
from gaby.safety.redaction.placeholders import Placeholders
from gaby.safety.redaction.profiles import DEFAULT, Profile
from gaby.safety.redaction.reading import SEPARATOR
from gaby.safety.redaction.recognise import recognise
from gaby.safety.redaction.spans import Kind, Span

# As long as the separator, and as good as nothing for who reads it.
_INVISIBLE = "\u200b"


class Redacted(NamedTuple):
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

    def redact(self, text: str, placeholders: Placeholders, *, from_outside: bool = False) -> Redacted:
        """The text with placeholders. Placeholders of this run in it stay, so that redacting twice changes nothing.

        Say `from_outside=True` of what a stranger could have written: a placeholder of this run in it was copied by
        somebody, and is made to stand for nothing but itself.
        """
        leaves = Leaves()
        leaves.take(text)
        kinds = self._redact(leaves, placeholders, from_outside=from_outside)
        return Redacted(leaves.texts[0], kinds)

    def redact_value(
        self,
        value: Any,
        placeholders: Placeholders,
        *,
        hints: Mapping[str, Kind] | None = None,
        from_outside: bool = False,
    ) -> RedactedValue:
        """The same for JSON, keys too. `hints` are fields that are personal whatever they hold, see `Hints`."""
        leaves = Leaves(Hints(hints or {}), self.profile.kinds)
        leaves.take(value)
        before = list(leaves.texts)
        kinds = self._redact(leaves, placeholders, from_outside=from_outside)
        return RedactedValue(value if leaves.texts == before else leaves.put(value), kinds)

    def _redact(self, leaves: Leaves, placeholders: Placeholders, *, from_outside: bool) -> Counter[Kind]:
        kinds: Counter[Kind] = Counter()
        _defuse(leaves, placeholders, from_outside=from_outside)
        for place, kind in leaves.forced.items():
            kinds[kind] += self._force(leaves, place, kind, placeholders)
        # Each pass finds what the one before uncovered. Texts need one or two, and what is taken out never comes back.
        while found := self._find(leaves.texts, placeholders):
            for place, spans in found.items():
                _replace(leaves, place, spans, placeholders)
                kinds.update(span.kind for span in spans)
        return +kinds

    def _force(self, leaves: Leaves, place: int, kind: Kind, placeholders: Placeholders) -> int:
        """Everything of a text but the placeholders that are in it already."""
        text = _masked(leaves.texts[place], placeholders)
        whole = Span(0, len(text), kind, self.profile.at_least)
        spans = [span for span in _apart(text, [whole]) if not text[span.start : span.end].isspace()]
        if place in leaves.numbers:
            spans = [whole]
        _replace(leaves, place, spans, placeholders)
        return len(spans)

    def _find(self, texts: Sequence[str], placeholders: Placeholders) -> dict[int, list[Span]]:
        """What is to be taken out, by text. They are looked at as one: every look has a price of its own."""
        joined = SEPARATOR.join(texts)
        if joined.count(SEPARATOR) >= len(texts) or placeholders.tag in joined:
            joined = SEPARATOR.join(_masked(text, placeholders) for text in texts)
        spans = recognise(joined, self.profile.kinds, at_least=self.profile.at_least, also=self._also)
        if not spans:
            return {}
        starts = [0, *accumulate(len(text) + 1 for text in texts)]
        found: dict[int, list[Span]] = {}
        for span in _apart(joined, spans):
            place = bisect_right(starts, span.start) - 1
            begin = starts[place]
            found.setdefault(place, []).append(span._replace(start=span.start - begin, end=span.end - begin))
        return found


def _defuse(leaves: Leaves, placeholders: Placeholders, *, from_outside: bool) -> None:
    """What looks like a placeholder of this run, but is not, must not become one later."""
    for place, text in enumerate(leaves.texts):
        if placeholders.tag in text:
            leaves.texts[place] = placeholders.defused(text, all_of_them=from_outside)


def _masked(text: str, placeholders: Placeholders) -> str:
    """The same length, with separators where placeholders of this run stand and nowhere else."""
    if SEPARATOR in text:
        text = text.replace(SEPARATOR, _INVISIBLE)
    if placeholders.tag in text:
        text = placeholders.own.sub(lambda found: SEPARATOR * len(found[0]), text)
    return text


def _apart(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans without any separator in them."""
    pieces: list[Span] = []
    for span in spans:
        start = span.start
        for piece in text[span.start : span.end].split(SEPARATOR):
            if piece:
                pieces.append(span._replace(start=start, end=start + len(piece)))
            start += len(piece) + 1
    return pieces


def _replace(leaves: Leaves, place: int, spans: Sequence[Span], placeholders: Placeholders) -> None:
    if place in leaves.numbers:
        leaves.texts[place] = placeholders.put(spans[0].kind, leaves.numbers.pop(place))
        return
    text = leaves.texts[place]
    pieces: list[str] = []
    before = 0
    for span in spans:
        pieces += text[before : span.start], placeholders.put(span.kind, text[span.start : span.end])
        before = span.end
    leaves.texts[place] = "".join(pieces) + text[before:]
