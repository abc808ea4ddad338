"""Fills the parameters of a tool from what a text says, and never from anything else.

Every value is a piece of the text (a date or a number in the spelling that the schema wants), a member of a list or a
yes or no that the text supports, or a default or constant of the schema itself. What cannot be filled so is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gaby.mind.arguments.candidates import Candidate, from_entities, people
from gaby.mind.arguments.checking import fits, is_valid
from gaby.mind.arguments.choices import chosen, said_yes_or_no
from gaby.mind.arguments.cues import announced
from gaby.mind.arguments.phrases import searched
from gaby.mind.arguments.slots import Schema, Slot, mapping, sequence, shapes, slots_of
from gaby.mind.entities import Entity
from gaby.mind.entities.addresses import Withheld, withheld

_ENOUGH = 0.4
_ENOUGH_IF_OPTIONAL = 0.6
_MANY = 50
_NESTED = 2


@dataclass(frozen=True)
class Origin:
    argument: str
    """With dots: `customer.email`."""
    source: Literal["text", "schema"]
    quote: str
    """The words of the text that gave it; for a value of the schema, what made it certain."""
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Filled:
    arguments: dict[str, Any]
    missing: tuple[str, ...]
    """Parameters that must be there and could not be filled, with dots."""
    origins: tuple[Origin, ...]


@dataclass(frozen=True)
class _Source:
    """The text, what was found in it, and where it must not be touched."""

    entities: Sequence[Entity]
    text: str
    secrets: Withheld

    def may_give(self, candidate: Candidate) -> bool:
        return not any(start < candidate.end and candidate.start < end for start, end in self.secrets)


@dataclass(frozen=True)
class _Offer:
    slot: Slot
    value: Any
    spans: tuple[Candidate, ...]
    score: float


def fill(schema: Schema, entities: Sequence[Entity], text: str) -> Filled:
    """The arguments always fit the schema, apart from those that are missing."""
    source = _Source(entities, text, withheld(text))
    arguments, missing, origins = _object(schema, schema, (), source)
    missing += _either(schema, arguments)
    arguments, dropped = _valid_part(schema, arguments)
    kept = tuple(origin for origin in origins if origin.argument.partition(".")[0] not in dropped)
    again = [name for name in map(str, sequence(schema.get("required"))) if name in dropped]
    return Filled(arguments, tuple(dict.fromkeys([*missing, *again])), kept)


def _object(
    schema: Schema, root: Schema, path: tuple[str, ...], source: _Source
) -> tuple[dict[str, Any], list[str], list[Origin]]:
    parameters = list(slots_of(schema, root, path))
    arguments: dict[str, Any] = {}
    origins: list[Origin] = []
    for offer in _assigned([offer for slots in parameters for offer in _offers(slots, source)]):
        arguments[offer.slot.name] = offer.value
        origins += (_origin(offer.slot, span, source.text) for span in offer.spans)
    missing: list[str] = []
    for slots in (slots for slots in parameters if slots and slots[0].name not in arguments):
        value, below, why = _otherwise(slots, source)
        if why:
            arguments[slots[0].name] = value
            origins += why
        elif slots[0].required:
            missing += below or [".".join(slots[0].path)]
    ordered = {slots[0].name: arguments[slots[0].name] for slots in parameters if slots and slots[0].name in arguments}
    told = {name.split(".")[len(path)] for name in missing}
    required = [name for name in map(str, sequence(schema.get("required"))) if name not in arguments]
    missing += [".".join((*path, name)) for name in required if name not in told]
    return ordered, missing, origins


def _offers(slots: Sequence[Slot], source: _Source) -> Iterator[_Offer]:
    for slot in slots:
        enough = _enough(slot)
        if "array" in slot.types:
            if (offer := _several(slot, source)) and offer.score >= enough:
                yield offer
            continue
        if "object" in slot.types:
            continue
        for candidate in _candidates(slot, source):
            if candidate.score >= enough and fits(slot, candidate.value):
                yield _Offer(slot, candidate.value, (candidate,), candidate.score)


def _enough(slot: Slot) -> float:
    """What nobody has to give is given only when it is plain."""
    return _ENOUGH if slot.required else _ENOUGH_IF_OPTIONAL


def _candidates(slot: Slot, source: _Source) -> Iterator[Candidate]:
    return (candidate for candidate in _suiting(slot, source) if source.may_give(candidate))


def _suiting(slot: Slot, source: _Source) -> Iterator[Candidate]:
    entities, text = source.entities, source.text
    if slot.choices:
        yield from chosen(slot, text)
        yield from from_entities(slot, [entity for entity in entities if entity.kind == "money"], text)
    elif "boolean" in slot.types:
        yield from said_yes_or_no(slot, text)
    else:
        yield from from_entities(slot, entities, text)
        yield from announced(slot, text)
        yield from people(slot, text)
        yield from searched(slot, entities, text)


def _several(slot: Slot, source: _Source) -> _Offer | None:
    """Everything in the text that suits the items of a list."""
    items = list(shapes(slot.schema.get("items", {}), slot.root, slot.path, required=slot.required))
    found: dict[Any, Candidate] = {}
    for item in items:
        if {"array", "object"} & item.types:
            continue
        best: dict[tuple[int, int], Candidate] = {}
        for candidate in _candidates(item, source):
            if candidate.score >= _enough(slot) and fits(item, candidate.value):
                best.setdefault((candidate.start, candidate.end), candidate)
        for candidate in best.values():
            found.setdefault(repr(candidate.value), candidate)
    if not found:
        return None
    top = max(candidate.score for candidate in found.values())
    most = slot.schema.get("maxItems")
    limit = most if isinstance(most, int) else _MANY
    chosen_ones = sorted((each for each in found.values() if each.score == top), key=lambda each: each.start)[:limit]
    value = [candidate.value for candidate in chosen_ones]
    return _Offer(slot, value, tuple(chosen_ones), top) if value and fits(slot, value) else None


def _assigned(offers: Sequence[_Offer]) -> Iterator[_Offer]:
    """The best first. What is given to one parameter is not given to another as well."""
    given: set[tuple[int, int, str]] = set()
    done: set[str] = set()
    for offer in sorted(offers, key=_order):
        spans = {(span.start, span.end, span.aspect) for span in offer.spans}
        if offer.slot.name not in done and given.isdisjoint(spans):
            done.add(offer.slot.name)
            given |= spans
            yield offer


def _order(offer: _Offer) -> tuple[float, bool, int]:
    return -offer.score, not offer.slot.required, offer.spans[0].start


def _otherwise(slots: Sequence[Slot], source: _Source) -> tuple[Any, list[str], list[Origin]]:
    """A nested object, or what the schema itself says of a parameter that must be there."""
    below: list[str] = []
    for slot in slots:
        if "object" in slot.types and len(slot.path) <= _NESTED and "properties" in slot.schema:
            inner, missing, origins = _object(slot.schema, slot.root, slot.path, source)
            if inner and not missing and fits(slot, inner):
                return inner, [], origins
            below = below or missing
    for slot in slots if slots[0].required else ():
        said = slot.choices if len(slot.choices) == 1 else [slot.schema["default"]] if "default" in slot.schema else []
        if said and fits(slot, said[0]):
            why = "the only value it may have" if slot.choices else "the default of the tool"
            return said[0], [], [Origin(".".join(slot.path), "schema", why)]
    return None, below, []


def _origin(slot: Slot, span: Candidate, text: str) -> Origin:
    return Origin(".".join(slot.path), "text", text[span.start : span.end], span.start, span.end)


def _either(schema: Schema, arguments: dict[str, Any]) -> list[str]:
    """`anyOf: [{required: [email]}, {required: [id]}]`: one of them must be there."""
    options = [
        [str(name) for name in sequence(mapping(option).get("required"))]
        for key in ("anyOf", "oneOf")
        for option in sequence(schema.get(key))
        if "required" in mapping(option)
    ]
    if not options or any(all(name in arguments for name in names) for names in options):
        return []
    return [" or ".join(" and ".join(names) for names in options)]


def _valid_part(schema: Schema, arguments: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The arguments as far as they are valid together; those that are not needed go first."""
    relaxed = {key: value for key, value in schema.items() if key not in {"required", "anyOf", "oneOf"}}
    required = set(map(str, sequence(schema.get("required"))))
    kept = dict(arguments)
    for name in sorted(arguments, key=lambda name: name in required):
        if is_valid(relaxed, kept):
            break
        del kept[name]
    if not is_valid(relaxed, kept):
        kept = {}
    return kept, set(arguments) - set(kept)
