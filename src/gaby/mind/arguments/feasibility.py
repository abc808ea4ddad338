"""A quick look at whether a tool could be called: which required parameters nothing at hand suits."""

from collections.abc import Sequence

from gaby.mind.arguments.affinity import POSSIBLE, affinity
from gaby.mind.arguments.slots import ParameterSlot, Schema, slots_of
from gaby.mind.entities import Entity
from gaby.mind.words import stems

_ASKED = stems("query q search term keyword keywords question phrase topic lookup")


def unfilled(schema: Schema, entities: Sequence[Entity]) -> tuple[str, ...]:
    """Names of required parameters. Words to search for and a choice from a list can always be found in a text."""
    return tuple(
        slots[0].name
        for slots in slots_of(schema, schema)
        if slots and slots[0].required and not any(_could_be(slot, entities) for slot in slots)
    )


def _could_be(slot: ParameterSlot, entities: Sequence[Entity]) -> bool:
    if slot.choices or "default" in slot.schema or not _ASKED.isdisjoint(slot.words) or "object" in slot.types:
        return True
    return any(affinity(slot, entity) >= POSSIBLE for entity in entities)
