"""What an answer must have letter by letter: codes, numbers that pages tell apart, and names.

An entry about error 720 is no answer to a question about error 809, however well the rest fits.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gaby.mind.languages import language_of
from gaby.mind.question_terms import Name, codes, exact_tokens, names, numbered, telling_terms

if TYPE_CHECKING:
    from gaby.mind.questions import TicketQuestion
    from gaby.mind.unit_ranking import UnitCandidate

_CLEAR = 2
_CODE_NAME = re.compile(r"\W*[^\W\d_]{2,30}\W{0,3}[0-9]{1,12}\W*")
"""A label that is nothing but a word and its number."""
_KIND = re.compile(r"([a-z]{1,5})[0-9]{1,6}")
_CAPITALISES = "German"
"""Every noun has a capital letter, which so makes no name."""


def eligible(asked: "TicketQuestion", among: "Sequence[UnitCandidate]") -> tuple[set[int], bool]:
    """The ids of the units that lack nothing, and whether the question gives a code that entries are called by."""
    needed, others = _needed(asked, among), _counted(asked)
    left = [each for each in among if needed <= each.own_tokens and not _is_of_another_number(each, others)]
    return {id(each) for each in _named(asked, left)}, bool(needed)


def _needed(asked: "TicketQuestion", among: "Sequence[UnitCandidate]") -> set[str]:
    """Codes, and numbers and ids that entries are called by: `error 809` where the items of a list are called errors.
    Where one of several is such a name, the others are ids of things: `truck RT-07 shows L-31`."""
    text = f"{asked.context}\n{asked.before}\n{asked.question}"
    called = [each for unit in among for each in (unit.unit.label, *unit.unit.headings)]
    kinds = {word for each in called if _CODE_NAME.fullmatch(each) for word, _ in numbered(each)}
    labels = {token for each in called for token in exact_tokens(each)}
    numbers = {number for word, number in _counted(asked) if word in kinds}
    coded = {each for each in exact_tokens(text) if not each.isdigit()}
    return (coded | numbers) & labels or codes(text) | numbers | _of_known_kind(coded, among)


def _of_known_kind(coded: set[str], among: "Sequence[UnitCandidate]") -> set[str]:
    """Tokens that no page has where pages have others of the kind: asked about A8, they explain A7 and A9."""
    known = {token for each in among for token in each.own_tokens}
    kinds = {match[1] for token in known if (match := _KIND.fullmatch(token))}
    return {each for each in coded - known if (match := _KIND.fullmatch(each)) and match[1] in kinds}


def _counted(asked: "TicketQuestion") -> set[tuple[str, str]]:
    """A number beside a question that is clear by itself belongs to something else."""
    is_clear = len(set(telling_terms(asked.question))) >= _CLEAR
    return numbered(f"{asked.before}\n{asked.question}" + ("" if is_clear else f"\n{asked.context}"))


def _is_of_another_number(each: "UnitCandidate", counted: set[tuple[str, str]]) -> bool:
    """Asked about plan 12, a row that is called plan 24."""
    own = numbered(each.unit.label)
    kinds = {word for word, _ in counted}
    return any(word in kinds for word, _ in own) and not own & counted


def _named(asked: "TicketQuestion", among: "Sequence[UnitCandidate]") -> "list[UnitCandidate]":
    """Only the pages that have the names of the question, where any page has them. Where a name is told beside the
    question and pages are called by it, none that is called by another of its kind."""
    if language_of(asked.question) == _CAPITALISES:
        return list(among)
    pages: dict[str, set[Name]] = {}
    called: dict[str, set[Name]] = {}
    for each in among:
        pages.setdefault(each.page, set()).update(names(f"{each.title}\n{each.around}"))
        called.setdefault(each.page, set()).update(names(f"{each.title}\n{chr(10).join(each.unit.headings)}"))
    left = list(among)
    for name in names(asked.question):
        having = _pages_with(name, pages)
        if having or _is_another(name, pages):
            left = [each for each in left if each.page in having]
    for name in names(asked.context):
        if having := _pages_with(name, called):
            left = [each for each in left if each.page in having or not _is_another(name, {"": called[each.page]})]
    return left


def _is_another(name: Name, pages: Mapping[str, set[Name]]) -> bool:
    """No page has the name, and pages have others of its kind: asked about the Blue Account, they tell of the Green
    Account."""
    return len(name) > 1 and any(len(each) > 1 and each[-1] == name[-1] for known in pages.values() for each in known)


def _pages_with(name: Name, of_pages: Mapping[str, set[Name]]) -> set[str]:
    """By the whole name; a single word also by a longer name that it is part of, as `Gold` is of `Gold Account`."""
    whole = {page for page, known in of_pages.items() if name in known}
    part = {page for page, known in of_pages.items() if any(_is_part(name, each) for each in known)}
    return part if len(name) == 1 else whole or part


def _is_part(name: Name, of: Name) -> bool:
    return any(of[place : place + len(name)] == name for place in range(len(of)))
