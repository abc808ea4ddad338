"""What a statement claims, taken apart: what it is about, whether it says yes or no, and which values it gives."""

import re
from dataclasses import dataclass
from functools import cached_property

from gaby.mind.entities import Entity, extract
from gaby.mind.entities.entity import made_up_words
from gaby.mind.states import OPPOSITES
from gaby.mind.words import STOP_WORDS, stem, stems, words

_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|can'?t|won'?t|isn'?t|aren'?t|wasn'?t|"
    r"weren'?t|doesn'?t|"
    r"don'?t|didn'?t|hasn'?t|haven'?t|hadn'?t|couldn'?t|wouldn'?t|no longer|fails? to|failed to|unable to)\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\?|^(?:it|they|he|she|this|that|these|those|one)\b|\b(?:if|unless|when|whenever|could|might|may|should|"
    r"would|perhaps|maybe|probably|possibly|some|many|most|several|few|"
    r"other|another|others|sometimes|often|usually|either|depends|except|sporadically|about|approximately|around|"
    r"roughly|"
    r"at least|at most|up to|more than|less than|over|under|between)\b",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"\b(?:yesterday|today|tomorrow|now|currently|previously|formerly|before|after|until|since|last|next|earlier|"
    r"later|again|"
    r"then|was|were|had|used to|monday|tuesday|wednesday|thursday|friday|saturday|sunday|first|second|new|old)\b",
    re.IGNORECASE,
)
_ASSIGNS = re.compile(
    r"\b(?:is|are|equals?|costs?|has|have|allows?|takes?|contains?|includes?|uses?|runs?|amounts? to|comes? to|"
    r"expires?|"
    r"renews?|ends?|starts?|begins?|due|limited to|set to|totals?|valid until|lasts?|holds?|needs?|requires?|lives? in|"
    r"belongs? to|version)\b|(?<![0-9]):|=",
    re.IGNORECASE,
)
_FIELD = re.compile(r"(?:([^:,\n]{1,80}): )?([A-Za-z][\w /\-]{0,40}): (\S[^\n]{0,200})")
_VALUES = frozenset({"money", "quantity", "date", "time", "version"})
_NAMES = frozenset({"id", "email", "host", "ip", "uuid", "username", "url", "path", "phone", "quoted", "error_code"})
_PROPER = re.compile(r"(?<=[\w,;] )[A-Z][\w\-]{1,40}")
_NUMBER = re.compile(r"(?<![\w.,\-])[0-9]{1,12}(?:[.,][0-9]{1,6})?(?![\w%]|[.,\-][0-9])")
_AUXILIARY = stems("is are be been being was were has have had can does do did will able fail unable longer")
LONGEST = 600
# They are states only as the value of a field: "no errors" and "go on" are something else.
_LITTLE = stems("yes no on off true false before after read up full")
_OPPOSED = frozenset(first for first, _ in OPPOSITES) - _LITTLE


@dataclass(frozen=True)
class Claim:
    text: str

    @cached_property
    def entities(self) -> list[Entity]:
        return extract(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stem(word) for word in words(self._plain))

    @cached_property
    def negated(self) -> bool:
        return len(_NEGATIONS.findall(self.text)) % 2 == 1

    @cached_property
    def doubtful(self) -> bool:
        """It says when or whether, so that it cannot be held against another."""
        return _DOUBTS.search(self.text) is not None

    @cached_property
    def moments(self) -> frozenset[str]:
        """The words that place it in time."""
        return frozenset(found.lower() for found in _THEN.findall(self.text))

    @cached_property
    def assigns(self) -> bool:
        return _ASSIGNS.search(self.text) is not None

    @cached_property
    def states(self) -> frozenset[str]:
        return self.stems & _OPPOSED

    @cached_property
    def about(self) -> frozenset[str]:
        """What it speaks of, without values, states, negations and words that say little."""
        if self.field:
            return frozenset([*map(stem, words(self.field[0])), *self.field[1].split()])
        spoken = (stem(word) for word in words(_NEGATIONS.sub(" ", self._without(_VALUES))) if word not in STOP_WORDS)
        return frozenset(
            term for term in spoken if term not in _AUXILIARY and term not in _OPPOSED and not term.isdigit()
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Ids, addresses and names of things: two statements about different ones do not contradict each other."""
        typed = {entity.plain.lower() for entity in self.entities if entity.kind in _NAMES}
        typed |= {found[0].lower() for found in made_up_words(self._plain) if not found[0].isdigit()}
        typed |= {found[0] for found in _NUMBER.finditer(self._plain) if _is_name(self._plain, found)}
        return frozenset(typed | {found.lower() for found in _PROPER.findall(self._plain)})

    @cached_property
    def nouns(self) -> frozenset[str]:
        """Its words as they are spelled: `the team` and `the teams` are not the same."""
        spoken = words(_NEGATIONS.sub(" ", self._without(_VALUES)))
        return frozenset(word for word in spoken if word not in STOP_WORDS and not word.isdigit())

    @cached_property
    def values(self) -> dict[tuple[str, str], str]:
        """By their kind and unit; a kind of which there are two says nothing certain."""
        found: dict[tuple[str, str], list[str]] = {}
        for entity in self.entities:
            if entity.kind in _VALUES:
                found.setdefault((entity.kind, entity.label or ""), []).append(entity.plain)
        for number in _NUMBER.finditer(self._plain):
            if not _is_name(self._plain, number):
                found.setdefault(("number", ""), []).append(number[0])
        return {key: values[0] for key, values in found.items() if len(values) == 1}

    @cached_property
    def field(self) -> tuple[str, str, str] | None:
        """`usr_001: status: locked` as subject, field and value."""
        found = _FIELD.fullmatch(self.text.rstrip(". "))
        if found is None or ", " in found[3]:
            return None
        return (found[1] or "").strip().lower(), " ".join(map(stem, words(found[2]))), found[3].strip()

    @property
    def thing(self) -> object:
        """What two statements must have in common before they are compared at all."""
        return self.field[:2] if self.field else self.names

    @cached_property
    def _plain(self) -> str:
        return self._without(_VALUES | _NAMES)

    def _without(self, kinds: frozenset[str]) -> str:
        text = self.text
        for entity in reversed(self.entities):
            if entity.kind in kinds:
                text = f"{text[: entity.start]} {text[entity.end :]}"
        return text


def _is_name(text: str, number: re.Match[str]) -> bool:
    """`Till 4` is called so; `has 4 members` counts them."""
    before = words(text[max(0, number.start() - 30) : number.start()])
    return bool(before) and before[-1] not in STOP_WORDS and not _ASSIGNS.fullmatch(before[-1])
