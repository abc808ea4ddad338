"""Parameters with few possible values: one of a list, or yes and no."""

import re
from collections.abc import Iterator
from typing import Any

from gaby.mind.arguments.affinity import LIKELY, SURE
from gaby.mind.arguments.candidates import Candidate
from gaby.mind.arguments.cues import READ
from gaby.mind.arguments.slots import Slot
from gaby.mind.words import STOP_WORDS, stem, stems, words

_WORD = re.compile(r"[A-Za-z0-9]+")
# They stand in every other ticket, and mean the parameter only where the text names it, too.
_COMMON = stems(
    "low high medium normal all none open new any other default asc desc active full on off true false yes no "
    "day week month year hour minute user critical error info warning up down first last read write start end "
    "closed daily weekly monthly text email number name date time id short long small large basic test"
)
_NEGATIONS = stems("not no without never except excluding exclude skip")
_ABOUT_FLAGS = stems("include including included is are has have should with only show use allow enable enabled can")
_NEAR = 8
_BEFORE = 3
_GAP = 3

_Words = list[tuple[str, int, int]]


def chosen(slot: Slot, text: str) -> Iterator[Candidate]:
    """The one member of the list that the text names. When it names several, nobody can say which is meant."""
    here = _stems(text)
    found = [candidate for member in slot.choices for candidate in _named(slot, member, here)]
    if len({repr(candidate.value) for candidate in found}) == 1:
        yield found[0]
        return
    near = [candidate for candidate in found if candidate.score >= SURE]
    if len({repr(candidate.value) for candidate in near}) == 1:
        yield near[0]


def said_yes_or_no(slot: Slot, text: str) -> Iterator[Candidate]:
    """`include_closed` is true of "including closed ones", and false of "without the closed ones"."""
    wanted = [word for word in slot.words if word not in _ABOUT_FLAGS and word not in STOP_WORDS]
    if not wanted:
        return
    here = _stems(text)
    for place in range(len(here)):
        last = _follow(wanted, here, place)
        if last is None:
            continue
        before = {word for word, _, _ in here[max(0, place - _BEFORE) : place]}
        # One word alone proves nothing: who cannot open a page has not asked for what is open.
        if len(wanted) > 1 or before & (_ABOUT_FLAGS | _NEGATIONS):
            yield Candidate(before.isdisjoint(_NEGATIONS), here[place][1], here[last][2], LIKELY, "flag")
            return


def _follow(wanted: list[str], here: _Words, place: int) -> int | None:
    """Where the last of the words stands, when they follow each other from here with at most a word or two between."""
    for number, word in enumerate(wanted):
        room = here[place : place + (_GAP if number else 1)]
        step = next((step for step, (found, _, _) in enumerate(room) if found == word), None)
        if step is None:
            return None
        place += step + 1
    return place - 1


def _named(slot: Slot, member: Any, here: _Words) -> Iterator[Candidate]:
    if not isinstance(member, str):
        return
    wanted = [stem(word) for word in words(member)]
    if not wanted:
        return
    is_common = len(wanted) == 1 and (wanted[0] in _COMMON or len(wanted[0]) == 1)
    nouns = set(slot.nouns)
    for place in range(len(here) - len(wanted) + 1):
        if [word for word, _, _ in here[place : place + len(wanted)]] == wanted:
            around = {word for word, _, _ in here[max(0, place - _NEAR) : place + len(wanted) + _NEAR]}
            is_near = not nouns.isdisjoint(around)
            if is_near or not is_common:
                score = SURE if is_near else LIKELY
                yield Candidate(member, here[place][1], here[place + len(wanted) - 1][2], score, "choice")
                return


def _stems(text: str) -> _Words:
    found: _Words = []
    for word in _WORD.finditer(text[:READ]):
        at = word.start()
        for part in words(word[0]):
            found.append((stem(part), at, at + len(part)))
            at += len(part)
    return found
