"""Everything that can be recognised in a text by its own form."""

from collections.abc import Callable, Collection, Iterable, Iterator

from gaby.safety.redaction.cards import find_cards
from gaby.safety.redaction.emails import find_emails
from gaby.safety.redaction.health import find_birth_dates, find_medical_ids
from gaby.safety.redaction.ibans import find_ibans
from gaby.safety.redaction.identity_documents import find_identity_documents
from gaby.safety.redaction.national_ids import find_national_ids
from gaby.safety.redaction.networks import find_networks
from gaby.safety.redaction.phones import find_phones
from gaby.safety.redaction.reading import readings
from gaby.safety.redaction.secrets import find_secrets
from gaby.safety.redaction.sight import Sight
from gaby.safety.redaction.spans import ALL_KINDS, SECRET_KINDS, Certainty, Kind, Span

Finder = Callable[[Sight], Iterable[Span]]

_FINDERS: tuple[tuple[frozenset[Kind], Finder], ...] = (
    (SECRET_KINDS, find_secrets),
    (frozenset({"card"}), find_cards),
    (frozenset({"iban"}), find_ibans),
    (frozenset({"email"}), find_emails),
    (frozenset({"national_id"}), find_national_ids),
    (frozenset({"national_id"}), find_identity_documents),
    (frozenset({"phone"}), find_phones),
    (frozenset({"ip", "mac"}), find_networks),
    (frozenset({"birth_date"}), find_birth_dates),
    (frozenset({"medical_id"}), find_medical_ids),
)

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


def recognise(
    text: str,
    kinds: Collection[Kind] = ALL_KINDS,
    *,
    at_least: Certainty = Certainty.POSSIBLE,
    also: Finder | None = None,
) -> list[Span]:
    """What the text holds of these kinds, in order and without overlaps. `also` is one more way to look."""
    spans: list[Span] = []
    for reading in readings(text):
        sight = Sight(reading.text)
        found = list(_find(sight, kinds, at_least))
        if also:
            found += also(sight)
        spans += [Span(*reading.place(span.start, span.end), span.kind, span.certainty) for span in found]
    return merge(spans)


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


def _find(sight: Sight, kinds: Collection[Kind], at_least: Certainty) -> Iterator[Span]:
    for found_kinds, finder in _FINDERS:
        if not found_kinds.isdisjoint(kinds):
            yield from (span for span in finder(sight) if span.certainty >= at_least and span.kind in kinds)
