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
from gaby.safety.redaction.normalized_text import NormalizedText, readings
from gaby.safety.redaction.phones import find_phones
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.secrets import find_private_keys, find_secrets
from gaby.safety.redaction.spans import ALL_KINDS, SECRET_KINDS, Kind, SpanCertainty, TextSpan
from gaby.safety.redaction.text_windows import WINDOW, TextWindow, windows

Finder = Callable[[ScannedText], Iterable[TextSpan]]

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

    reading: NormalizedText
    sight: ScannedText
    spans: tuple[TextSpan, ...]


def recognise(
    text: str,
    kinds: Collection[Kind] = ALL_KINDS,
    *,
    at_least: SpanCertainty = SpanCertainty.POSSIBLE,
    also: Finder | None = None,
) -> list[TextSpan]:
    """What the text holds of these kinds, in order and without overlaps. `also` is one more way to look."""
    if len(text) <= WINDOW:
        return merge(_wanted(_scan(text), kinds, at_least, also))
    spans: list[TextSpan] = []
    if "private_key" in kinds:
        spans += find_private_keys(text)
    for window in windows(text):
        detected = _wanted(_scan_once(text[window.start : window.end]), kinds, at_least, also)
        spans += _placed(text, window, detected)
    return merge(spans)


def _scan_once(text: str) -> tuple[_Scan, ...]:
    scans: list[_Scan] = []
    for reading in readings(text):
        sight = ScannedText(reading.text)
        scans.append(_Scan(reading, sight, tuple(span for find in _FINDERS for span in find(sight))))
    return tuple(scans)


_scan = lru_cache(maxsize=32)(_scan_once)
"""A call's arguments are looked at when it is decided on, again when it is recorded, and so are results: the last few
texts are remembered, so that each is searched once."""


def _wanted(
    scans: Iterable[_Scan], kinds: Collection[Kind], at_least: SpanCertainty, also: Finder | None
) -> Iterator[TextSpan]:
    for reading, sight, spans in scans:
        detected = [span for span in spans if span.certainty >= at_least and span.kind in kinds]
        if also:
            detected += also(sight)
        if reading.changed:
            detected = [
                span._replace(start=start, end=end) for span in detected for start, end in (reading.place(*span[:2]),)
            ]
        yield from detected


def _placed(text: str, window: TextWindow, spans: Iterable[TextSpan]) -> Iterator[TextSpan]:
    """Spans of a window as spans of the text, without those that a cut has made."""
    for span in spans:
        start, end = span.start + window.start, span.end + window.start
        is_secret = span.kind in SECRET_KINDS
        if window.is_at_end(span.end):
            if not is_secret:
                continue
            # A token may be longer than any window. It goes on as long as nothing separates it.
            match = _TOKEN_END.match(text, end)
            end = match.end() if match else end
        elif window.is_at_start(span.start) and not (is_secret and span.certainty is SpanCertainty.SURE):
            continue
        yield span._replace(start=start, end=end)


def merge(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Overlapping spans become one that covers them all, so that no end of one is left standing."""
    merged: list[TextSpan] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            first = min(last, span, key=_rank)
            merged[-1] = TextSpan(last.start, max(last.end, span.end), first.kind, max(last.certainty, span.certainty))
        else:
            merged.append(span)
    return merged


def _rank(span: TextSpan) -> int:
    return _RANK[span.kind]
