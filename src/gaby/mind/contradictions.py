"""Hints that two statements cannot both be true. Better none than a wrong one: a person reads them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gaby.mind.claims import LONGEST, Claim
from gaby.mind.states import OPPOSITES
from gaby.mind.words import stem, words


@dataclass(frozen=True)
class Hint:
    first: int
    """Its place among the statements."""
    second: int
    kind: Literal["negation", "value"]
    why: str


_SAME = 0.75
_MOST = 2000
_TIME_FIELDS = frozenset({"at", "time", "timestamp", "date"})


def hints(statements: Sequence[str]) -> list[Hint]:
    """In the order of the statements. Which pairs are named does not depend on that order."""
    claims = [Claim(" ".join(statement.split())) for statement in statements[:_MOST]]
    found: list[Hint] = []
    for first, second in sorted(_pairs(claims)):
        if why := _clash(claims[first], claims[second]):
            found.append(Hint(first, second, *why))
    return found


def _pairs(claims: Sequence[Claim]) -> set[tuple[int, int]]:
    """Those that may be about the same thing. They name the same things, and two sets of words that are alike share one
    of their rarest members, so that not every statement has to be compared with every other."""
    usable = [place for place, claim in enumerate(claims) if len(claim.text) <= LONGEST and claim.about]
    common = Counter(term for place in usable for term in claims[place].about)
    by_term: dict[tuple[str, object], list[int]] = {}
    pairs: set[tuple[int, int]] = set()
    for place in usable:
        rarest = sorted(claims[place].about, key=lambda term: (common[term], term))
        thing = claims[place].thing
        for term in rarest[: len(rarest) - int(_SAME * len(rarest)) + 1]:
            for other in by_term.setdefault((term, thing), []):
                if _is_same(claims[other].about, claims[place].about):
                    pairs.add((other, place))
            by_term[term, thing].append(place)
    return pairs


def _is_same(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) >= _SAME * len(first | second)


def _clash(first: Claim, second: Claim) -> tuple[Literal["negation", "value"], str] | None:
    if first.text == second.text or first.doubtful or second.doubtful:
        return None
    if first.field and second.field:
        return _fields_clash(first.field, second.field)
    if first.moments != second.moments or first.names != second.names:
        return None
    if first.values == second.values:
        return _states_clash(first, second)
    return _values_clash(first, second) if first.negated == second.negated and first.states == second.states else None


def _states_clash(first: Claim, second: Claim) -> tuple[Literal["negation"], str] | None:
    opposed = _opposed(first, second)
    if opposed and first.negated == second.negated:
        return "negation", f"One says {opposed[0]}, the other {opposed[1]}."
    if not opposed and first.states == second.states and first.negated != second.negated:
        return "negation", "One says what the other denies."
    return None


def _values_clash(first: Claim, second: Claim) -> tuple[Literal["value"], str] | None:
    is_alike = first.assigns and second.assigns and first.nouns == second.nouns
    if not is_alike or first.values.keys() != second.values.keys():
        return None
    different = [key for key, value in first.values.items() if value != second.values[key]]
    if len(different) != 1:
        return None
    kind = "number" if different[0][0] == "quantity" else different[0][0]
    return (
        "value",
        f"Two different values of the same {kind}: {first.values[different[0]]} and {second.values[different[0]]}.",
    )


def _fields_clash(
    first: tuple[str, str, str], second: tuple[str, str, str]
) -> tuple[Literal["negation", "value"], str] | None:
    if first[:2] != second[:2] or first[1] in _TIME_FIELDS or first[2].lower() == second[2].lower():
        return None
    one, other = _single(first[2]), _single(second[2])
    if one and other and (one, other) in OPPOSITES:
        return "negation", f"{first[1]} is {first[2]} in one and {second[2]} in the other."
    return "value", f"Two different values of {first[1]}: {first[2]} and {second[2]}."


def _single(value: str) -> str | None:
    found = words(value)
    return stem(found[0]) if len(found) == 1 else None


def _opposed(first: Claim, second: Claim) -> tuple[str, str] | None:
    only_first, only_second = first.states - second.states, second.states - first.states
    clashing = (
        (one, other) for one in sorted(only_first) for other in sorted(only_second) if (one, other) in OPPOSITES
    )
    pair = next(clashing, None)
    return (_spelled(first, pair[0]), _spelled(second, pair[1])) if pair else None


def _spelled(claim: Claim, wanted: str) -> str:
    return next((word for word in words(claim.text) if stem(word) == wanted), wanted)
