"""The text of an answer: the unit that fits best, with as much around it as belongs to it."""

from collections.abc import Sequence

from gaby.mind.page_units import PageUnit, page_units
from gaby.mind.unit_ranking import Candidate, Ranked

_ROOM = 120
"""Words of an answer. A procedure is never cut, a list only to its item."""
_RELEVANT = 0.45
"""A paragraph of the same section with this share of the best one's score belongs to the answer."""


def answer_text(best: Ranked, others: Sequence[Ranked]) -> str:
    """Plain text; a line for each step of a procedure and each item of a list."""
    unit, page = best.candidate.unit, page_units(best.candidate.around)
    match unit.kind:
        case "row":
            return unit.text
        case "steps":
            return _with_lead(unit, unit.text)
        case "item":
            return _item(best.candidate, page)
        case _:
            return _paragraph(best, others, page)


def _item(candidate: Candidate, page: Sequence[PageUnit]) -> str:
    """An item that has a name stands for itself; one of a procedure or of a plain list brings the others."""
    unit = candidate.unit
    steps = next((each for each in page if each.kind == "steps" and each.block == unit.block), None)
    if steps is not None:
        return _with_lead(steps, steps.text)
    items = [each for each in page if each.kind == "item" and each.block == unit.block]
    if unit.label or _size(*(each.text for each in items)) > _ROOM:
        return unit.text
    return _with_lead(unit, "\n".join(f"- {each.text}" for each in items) if len(items) > 1 else unit.text)


def _paragraph(best: Ranked, others: Sequence[Ranked], page: Sequence[PageUnit]) -> str:
    """With those of its section that the question is about as well, and the list that it leads to."""
    unit = best.candidate.unit
    scores = {each.candidate.unit: each.score for each in others if each.candidate.citation == best.candidate.citation}
    kept = {unit}
    section = [each for each in page if each.section == unit.section and each.kind == "paragraph"]
    for each in sorted(section, key=lambda each: -scores.get(each, 0.0)):
        fits = scores.get(each, 0.0) >= _RELEVANT * best.score
        if fits and _size(*(other.text for other in {*kept, each})) <= _ROOM:
            kept.add(each)
    return "\n".join(_led_to(each, page) for each in section if each in kept)


def _led_to(unit: PageUnit, page: Sequence[PageUnit]) -> str:
    if not unit.text.endswith(":"):
        return unit.text
    steps = [each for each in page if each.lead == unit.text and each.kind in {"steps", "row"}]
    items = [each for each in page if each.lead == unit.text and each.kind == "item"]
    lines = [each.text for each in steps] or [f"- {each.text}" for each in items]
    return "\n".join((unit.text, *lines))


def _with_lead(unit: PageUnit, text: str) -> str:
    return f"{unit.lead}\n{text}" if unit.lead else text


def _size(*texts: str) -> int:
    return sum(len(each.split()) for each in texts)
