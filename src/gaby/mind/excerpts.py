"""What is quoted of pages: for each question the entry that fits best, and what of its page belongs to the questions.

An entry is what a page says of one thing: a labelled paragraph with those that follow it, an item that has a label, a
row of a table, a procedure, or else all paragraphs and lists below one heading.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gaby.mind.page_units import PageUnit, page_units
from gaby.mind.questions import TicketQuestion
from gaby.mind.unit_ranking import RankedUnit, UnitCandidate, UnitMatcher

_LINES = re.compile(r"#L([0-9]{1,9})(?:-L[0-9]{1,9})?$")
_BELOW_THE_TITLE = 2
_COUNT = re.compile(r"^\W*[0-9]{1,3}(?:\.[0-9]{1,3})*[.)]?\s+")
"""The number of a heading."""
_ENDS = (".", "!", "?", ":")
MAX_CHARACTERS = 1200
"""Characters of a reply."""
_FILLED = 800
"""What fits by less is added only up to here."""
_BELONGS, _BELONGS_ELSEWHERE = 0.7, 0.9
"""An entry with this share of the best one's score belongs to the answer as well: on its page, on another one."""
_OWN_SECTION, _RELATED, _ALONE, _ON_ANOTHER_PAGE = 0.3, 0.42, 0.6, 0.85
"""The share that is enough in the section of the best one, on its page, for an item with a name, on another page."""
_WITH_TABLES = 1600
"""Characters of a reply with the tables that its paragraphs go on with, and the other way round."""
_LONGEST = 700
"""Characters of paragraphs that are one entry."""


@dataclass(frozen=True)
class PageExcerpt:
    citation: str
    page: str
    place: tuple[int, int]
    """Its order on the page."""
    section: tuple[str, int]
    units: tuple[PageUnit, ...]

    @property
    def text(self) -> str:
        """A line for each item, each step and each paragraph."""
        is_list = len(self.units) > 1
        return "\n".join(f"- {each.text}" if each.kind == "item" and is_list else each.text for each in self.units)

    @property
    def heading(self) -> str:
        """What the entry is called by the heading above it, where it has no label and the heading is not the page's."""
        first = self.units[0]
        heading = first.headings[-1] if first.headings and first.kind in {"paragraph", "steps"} else ""
        return "" if first.label or len(first.headings) < _BELOW_THE_TITLE else _COUNT.sub("", heading)


def entries(among: Sequence[UnitCandidate]) -> list[PageExcerpt]:
    excerpts: list[PageExcerpt] = []
    passages = dict.fromkeys((each.citation, each.page, each.around) for each in among)
    for citation, page, around in passages:
        groups: list[list[PageUnit]] = []
        for unit in page_units(around):
            if unit.kind == "code" or (unit.kind == "item" and _in_steps(unit, groups)):
                continue
            if groups and _belongs(unit, groups[-1]):
                groups[-1].append(unit)
            else:
                groups.append([unit])
        excerpts += [
            PageExcerpt(citation, page, (_line(citation), place), (citation, group[0].section), tuple(group))
            for place, group in enumerate(groups)
        ]
    return excerpts


def _line(citation: str) -> int:
    """Where a passage begins on its page, as its citation says."""
    match = _LINES.search(citation)
    return int(match[1]) if match else 0


def _in_steps(unit: PageUnit, groups: Sequence[Sequence[PageUnit]]) -> bool:
    return any(each.kind == "steps" and each.block == unit.block for group in groups[-1:] for each in group)


def _belongs(unit: PageUnit, group: Sequence[PageUnit]) -> bool:
    first, last = group[0], group[-1]
    if unit.section != first.section or unit.kind == "row" or first.kind == "row":
        return False
    if unit.kind == "item":
        return not unit.label and (last.kind == "item" or unit.lead == last.text)
    if unit.kind == "steps":
        return bool(unit.lead) and unit.lead == last.text
    is_short = sum(len(each.text) for each in (*group, unit)) <= _LONGEST
    return not unit.label and first.kind == "paragraph" and last.kind == "paragraph" and is_short


def entries_by_unit(among: Sequence[UnitCandidate]) -> dict[tuple[str, PageUnit], PageExcerpt]:
    """By citation and unit; the steps of a procedure have the whole of it."""
    excerpts = entries(among)
    of_unit = {(each.citation, unit): each for each in excerpts for unit in each.units}
    blocks = {(each.citation, unit.block): each for each in excerpts for unit in each.units if unit.kind == "steps"}
    for each in among:
        if each.unit.kind == "item" and (steps := blocks.get((each.citation, each.unit.block))):
            of_unit[each.citation, each.unit] = steps
    return of_unit


def chosen(
    asked: Sequence[TicketQuestion], ranked_units: Sequence[Sequence[RankedUnit]], match: UnitMatcher
) -> list[PageExcerpt]:
    """For each question the best entry, with what belongs to it; the most fitting page first."""
    of_unit = entries_by_unit(match.among)
    kept: dict[PageExcerpt, None] = {}
    wanted: list[tuple[float, bool, PageExcerpt]] = []
    for question, ranked in zip(asked, ranked_units, strict=True):
        scores = _without_other_rows(_scores(ranked, of_unit), lambda label, asks=question: match.names(asks, label))
        if not scores:
            continue
        best = next(iter(scores))
        if not kept or sum(len(each.text) for each in kept) + len(best.text) <= 2 * MAX_CHARACTERS:
            kept.setdefault(best)
        is_exact = any(each.is_exact for each in ranked)
        for entry, score in scores.items():
            share = score / scores[best]
            same = entry.section == best.section and not _stands_alone(entry)
            enough = _OWN_SECTION if same else _ALONE if _stands_alone(entry) else _RELATED
            if entry.page != best.page:
                # Several questions are told apart by the page that fits all of them; one may have two pages.
                enough = _ON_ANOTHER_PAGE if len(ranked_units) == 1 else math.inf
            if entry is not best and not is_exact and share >= enough:
                belongs_from = _BELONGS if entry.page == best.page else _BELONGS_ELSEWHERE
                wanted.append((share + 0.2 * same, share >= belongs_from, entry))
    for _, belongs, entry in sorted(wanted, key=lambda each: -each[0]):
        limit = MAX_CHARACTERS if belongs else _FILLED
        if entry not in kept and sum(len(each.text) for each in kept) + len(entry.text) <= limit:
            kept[entry] = None
    _add_tables(kept, list(of_unit.values()))
    pages = list(dict.fromkeys(each.page for each in kept))
    return sorted(kept, key=lambda each: (pages.index(each.page), each.place))


def _add_tables(kept: dict[PageExcerpt, None], among: Sequence[PageExcerpt]) -> None:
    for entry in [each for quoted in kept for each in _table_neighbours(quoted, among)]:
        if entry not in kept and sum(len(each.text) for each in kept) + len(entry.text) <= _WITH_TABLES:
            kept[entry] = None


def _table_neighbours(entry: PageExcerpt, among: Sequence[PageExcerpt]) -> list[PageExcerpt]:
    """A paragraph directly behind a table goes on with it: of the two neither is quoted alone. With the table comes
    the sentence above it."""
    first = entry.units[0]
    near = [each for each in among if each.section == entry.section]
    if first.kind == "row":
        return [each for each in near if _goes_on(each) and each.units[0].block == first.block + 1]
    rows = [each for each in near if each.units[0].kind == "row" and each.units[0].block == first.block - 1]
    if not rows or not _goes_on(entry):
        return []
    leads = [each for each in near if each.units[-1].text == rows[0].units[0].lead]
    return list(dict.fromkeys([*leads, *rows]))


def _goes_on(entry: PageExcerpt) -> bool:
    return entry.units[0].kind == "paragraph" and not entry.units[0].label


def reply_lines(kept: Sequence[PageExcerpt]) -> list[tuple[str, str]]:
    """The lines of the reply, each with its source. Several entries are a list, with the headings above them."""
    lines: list[tuple[str, str]] = []
    headed: set[tuple[str, int]] = set()
    are_several = len(kept) > 1
    for entry in kept:
        first, *rest = entry.text.splitlines()
        heading = entry.heading if are_several and entry.section not in headed else ""
        headed.add(entry.section)
        is_list = entry.units[0].kind == "steps" or first.startswith("- ")
        if heading and is_list:
            lines.append((f"- {heading}", entry.citation))
        elif heading:
            first = f"{heading} {first}" if heading.endswith(_ENDS) else f"{heading}: {first}"
        mark = "- " if are_several and not is_list else ""
        lines += [(line, entry.citation) for line in (f"{mark}{first}", *rest)]
    return lines


def _without_other_rows(
    scores: Mapping[PageExcerpt, float], is_named: Callable[[str], bool]
) -> dict[PageExcerpt, float]:
    """Of a table of which the question names some rows, only these."""
    rows = [each for each in scores if each.units[0].kind == "row"]
    named = {each for each in rows if is_named(each.units[0].label)}
    tables = {(each.citation, each.units[0].block) for each in named}
    return {
        each: score
        for each, score in scores.items()
        if each not in rows or each in named or (each.citation, each.units[0].block) not in tables
    }


def _stands_alone(entry: PageExcerpt) -> bool:
    """An item that has a name says nothing about its neighbours."""
    return entry.units[0].kind == "item" and bool(entry.units[0].label)


def _scores(
    ranked: Sequence[RankedUnit], of_unit: Mapping[tuple[str, PageUnit], PageExcerpt]
) -> dict[PageExcerpt, float]:
    scores: dict[PageExcerpt, float] = {}
    for each in ranked:
        entry = of_unit.get((each.candidate.citation, each.candidate.unit))
        if each.is_eligible and entry is not None:
            scores[entry] = max(scores.get(entry, 0.0), each.score)
    return scores
