"""Whether a source says what a sentence claims it says. It errs on the side of doubt: a doubt costs a second look."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from gaby.mind.claims import LONGEST, Claim
from gaby.mind.entities import EntityKind, extract
from gaby.mind.sentences import split
from gaby.mind.states import OPPOSITES
from gaby.mind.synonyms import alike
from gaby.mind.words import STOP_WORDS, stem, words

_ENOUGH = 0.5
"""The share of what a sentence speaks of that its sources must speak of too."""
_SAME = 0.5
"""The share of a sentence's words in a sentence of the source, from which on the two say yes or no to the same."""
_READ = 20_000
_SENTENCES = 200
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_EXACT: frozenset[EntityKind] = frozenset(
    {"email", "url", "host", "ip", "uuid", "error_code", "id", "money", "version", "path", "phone"}
)
"""Values of which every character counts."""
_UP_TO_TWELVE = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_SPELLED = {word: str(number) for number, word in enumerate(_UP_TO_TWELVE)}


@dataclass(frozen=True)
class Support:
    holds: bool
    share: float
    """Of what the sentence speaks of, how much the sources speak of too."""
    why: str = ""
    """When it does not hold."""


def support(sentence: str, sources: Sequence[str]) -> Support:
    """By all cited sources together: one may name the account, and the other the limit."""
    sources = [source[:_READ] for source in sources]
    together = "\n".join(sources)
    said = _spoken(sentence)
    known = {stem(word) for word in words(together)}
    share = sum(bool(alike(term) & known) for term in said) / len(said) if said else 1.0
    if missing := _missing_value(sentence, together):
        return Support(holds=False, share=share, why=f"No cited source says {missing}.")
    if share < _ENOUGH:
        return Support(holds=False, share=share, why="The cited source speaks of something else.")
    if denied := _denied(sentence, said, together):
        return Support(holds=False, share=share, why=f"The cited source says otherwise: {denied}")
    return Support(holds=True, share=share)


def _spoken(text: str) -> frozenset[str]:
    return frozenset(
        stem(word) for word in words(text) if word not in STOP_WORDS and not word.isdigit() and len(word) > 1
    )


def _missing_value(sentence: str, source: str) -> str | None:
    known = source.lower()
    there = extract(source)
    normal = {entity.plain.lower() for entity in there}
    measured = {(entity.plain, entity.label) for entity in there if entity.kind == "quantity"}
    for entity in extract(sentence):
        if entity.kind in _EXACT and entity.value.lower() not in known and entity.plain.lower() not in normal:
            return entity.value
        # Thirty minutes in the source are no thirty days.
        is_measured = entity.kind == "quantity" and any(number == entity.plain for number, _ in measured)
        if is_measured and (entity.plain, entity.label) not in measured:
            return entity.value
    numbers = _numbers(source)
    return next((number for number in _numbers(sentence) if number not in numbers), None)


def _numbers(text: str) -> dict[str, None]:
    """In one spelling: `5`, `five`, `1,000` and `1000`."""
    found = [number.replace(",", "").rstrip(".").lstrip("0") or "0" for number in _NUMBER.findall(text)]
    return dict.fromkeys([*found, *(_SPELLED[word] for word in words(text) if word in _SPELLED)])


def _denied(sentence: str, said: frozenset[str], source: str) -> str | None:
    """The sentence of the source that speaks of the same and says the opposite, if none says the same."""
    if not said:
        return None
    claim = Claim(sentence[:LONGEST])
    against: str | None = None
    for each in split(source)[:_SENTENCES]:
        if len(each.text) > LONGEST or len(said & _spoken(each.plain)) < _SAME * len(said):
            continue
        other = Claim(each.plain)
        if claim.negated == other.negated and not _opposed(claim, other):
            return None
        against = against or each.plain
    return against


def _opposed(first: Claim, second: Claim) -> bool:
    """One says open and the other closed, and neither says both."""
    own, others = first.states - second.states, second.states - first.states
    return any((one, other) in _opposites() for one in own for other in others)


@cache
def _opposites() -> frozenset[tuple[str, str]]:
    return frozenset({*OPPOSITES, *((second, first) for first, second in OPPOSITES)})
