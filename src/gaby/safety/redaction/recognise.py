"""Everything that can be recognised in a text by its own form."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from gaby.safety.redaction.cards import find_cards
from gaby.safety.redaction.emails import find_emails
from gaby.safety.redaction.health import find_birth_dates, find_medical_ids
from gaby.safety.redaction.ibans import find_ibans
from gaby.safety.redaction.identity_documents import find_identity_documents
from gaby.safety.redaction.national_ids import find_national_ids
from gaby.safety.redaction.networks import find_networks
from gaby.safety.redaction.phones import find_phones
from gaby.safety.redaction.reading import Reading, readings
from gaby.safety.redaction.secrets import find_private_keys, find_secrets
from gaby.safety.redaction.sight import Sight
from gaby.safety.redaction.spans import ALL_KINDS, SECRET_KINDS, Certainty, Kind, Span
from gaby.safety.redaction.text_windows import WINDOW, Window, windows

Finder = Callable[[Sight], Iterable[Span]]

_FINDERS: tuple[Finder, ...] = (
    find_secrets,
    find_cards,
    find_ibans,
    find_emails,
    find_national_ids,
    find_identity_documents,
    find_phones,
    find_networks,
    find_birth_dates,
    find_medical_ids,
)
_TOKEN_END = re.compile(r"[^\s\"'<>\x1e]*+")

# When two overlap, what they cover together is called by the one that stands first here.
_RANK: dict[Kind, int] = {
    kind: rank
    for rank, kind in enumerate(
        (
            "private_key",
            "api_key",
            "token",
            "password",
            "card",
            "iban",
            "email",
            "national_id",
            "medical_id",
            "mac",
            "ip",
            "account",
            "phone",
            "birth_date",
            "name",
            "address",
            "personal",
        )
    )
}


class _Scan(NamedTuple):
    """One way to read a text, and everything that was found in it."""

    reading: Reading
    sight: Sight
    spans: tuple[Span, ...]


def recognise(
    text: str,
    kinds: Collection[Kind] = ALL_KINDS,
    *,
    at_least: Certainty = Certainty.POSSIBLE,
    also: Finder | None = None,
) -> list[Span]:
    """What the text holds of these kinds, in order and without overlaps. `also` is one more way to look."""
    if len(text) <= WINDOW:
        return merge(_wanted(_scan(text), kinds, at_least, also))
    spans: list[Span] = []
    if "private_key" in kinds:
        spans += find_private_keys(text)
    for window in windows(text):
        found = _wanted(_scan_once(text[window.start : window.end]), kinds, at_least, also)
        spans += _placed(text, window, found)
    return merge(spans)


def _scan_once(text: str) -> tuple[_Scan, ...]:
    scans: list[_Scan] = []
    for reading in readings(text):
        sight = Sight(reading.text)
        scans.append(_Scan(reading, sight, tuple(span for find in _FINDERS for span in find(sight))))
    return tuple(scans)


_scan = lru_cache(maxsize=32)(_scan_once)
"""A call's arguments are looked at when it is decided on, again when it is recorded, and so are results: the last few
texts are remembered, so that each is searched once."""


def _wanted(
    scans: Iterable[_Scan], kinds: Collection[Kind], at_least: Certainty, also: Finder | None
) -> Iterator[Span]:
    for reading, sight, spans in scans:
        found = [span for span in spans if span.certainty >= at_least and span.kind in kinds]
        if also:
            found += also(sight)
        if reading.changed:
            found = [
                span._replace(start=start, end=end) for span in found for start, end in (reading.place(*span[:2]),)
            ]
        yield from found


def _placed(text: str, window: Window, spans: Iterable[Span]) -> Iterator[Span]:
    """Spans of a window as spans of the text, without those that a cut has made."""
    for span in spans:
        start, end = span.start + window.start, span.end + window.start
        is_secret = span.kind in SECRET_KINDS
        if window.is_at_end(span.end):
            if not is_secret:
                continue
            # A token may be longer than any window. It goes on as long as nothing separates it.
            found = _TOKEN_END.match(text, end)
            end = found.end() if found else end
        elif window.is_at_start(span.start) and not (is_secret and span.certainty is Certainty.SURE):
            continue
        yield span._replace(start=start, end=end)


def merge(spans: Iterable[Span]) -> list[Span]:
    """Overlapping spans become one that covers them all, so that no end of one is left standing."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            first = min(last, span, key=_rank)
            merged[-1] = Span(last.start, max(last.end, span.end), first.kind, max(last.certainty, span.certainty))
        else:
            merged.append(span)
    return merged


def _rank(span: Span) -> int:
    return _RANK[span.kind]
