"""The form of a ticket as numbers: which concepts it mentions, what kinds of values stand in it, how it is written."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaby.mind import concepts
from gaby.mind.entities import Entity, EntityKind, extract
from gaby.mind.linear_model import Numbers
from gaby.mind.sentences import Sentence, split
from gaby.mind.words import stem, words

LONGEST = 8000
"""What a ticket wants is said in its beginning; the rest is logs and old mail."""

_TELLING_KINDS: tuple[EntityKind, ...] = (
    "error_code", "money", "url", "ip", "host", "path", "version", "email", "id", "date", "quantity",
    "quoted", "username",
)  # fmt: skip
_SMALL = 0.7
_ASKS = re.compile(
    r"(?:how|where|what|which|who|whom|when|is there|can i|can we|does|do you|could you tell)\b", re.IGNORECASE
)
_ORDERS = re.compile(
    r"(?:please|pls|kindly|add|remove|update|change|switch|create|set|make|delete|cancel|move|stop|give)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?:subject|betreff|re|fwd?|aw|wg):\s*", re.IGNORECASE)


@dataclass(frozen=True)
class TicketFeatures:
    """A ticket as triage reads it."""

    text: str
    """What the writer says now, without old mail below it."""
    sentences: tuple[Sentence, ...]
    entities: tuple[Entity, ...]
    concepts: dict[str, list[str]]
    numbers: tuple[float, ...]

    def says(self, concept: str) -> bool:
        return concept in self.concepts


def form_of(text: str) -> TicketFeatures:
    text = text[:LONGEST]
    sentences = split(text)
    own = [sentence for sentence in sentences if _is_own(sentence)] or sentences
    said = "\n".join(_SUBJECT.sub("", sentence.plain) for sentence in own)
    entities = extract(said)
    word_list = words(said)
    mentioned = concepts.mentioned_in([stem(word) for word in word_list])
    numbers = [math.log1p(len(mentioned.get(name, ()))) for name in concepts.names()]
    kinds = {entity.kind for entity in entities}
    numbers += [_SMALL * (kind in kinds) for kind in _TELLING_KINDS]
    numbers += [_SMALL * float(value) for value in _manner(said, own, len(word_list))]
    return TicketFeatures(said, tuple(own), tuple(entities), mentioned, tuple(numbers))


def matrix(forms: Sequence[TicketFeatures]) -> Numbers:
    return np.array([form.numbers for form in forms], dtype=np.float32)


def _is_own(sentence: Sentence) -> bool:
    return sentence.kind != "quote" and (sentence.kind != "header" or bool(_SUBJECT.match(sentence.text)))


def _manner(text: str, sentences: Sequence[Sentence], length: int) -> tuple[float, ...]:
    return (
        "?" in text,
        "!" in text,
        length < 5,
        math.log1p(length) / 5,
        any(_ORDERS.match(sentence.plain) for sentence in sentences),
        any(_ASKS.match(sentence.plain) for sentence in sentences),
        any(sentence.kind in {"log", "code"} for sentence in sentences),
    )
