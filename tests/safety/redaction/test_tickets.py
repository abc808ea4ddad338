"""On realistic tickets: how much of what is personal is found, and how much of what is found is personal."""

import re
import sys

import pytest

from gaby.safety.redaction import DEFAULT, Dictionary, KnownPerson, Placeholders, Redactor, recognise
from gaby.safety.redaction.spans import ALL_KINDS
from tests.safety.redaction.tickets import KNOWN_NAMES, TICKETS

pytestmark = pytest.mark.promise("S5")

_MARK = re.compile(r"\{\{(\w+)\|(.*?)\}\}", re.DOTALL)
PEOPLE = Dictionary([KnownPerson(names=(name,)) for name in KNOWN_NAMES])

Labelled = set[tuple[int, int, int, str]]


def unmarked(ticket: str) -> tuple[str, list[tuple[int, int, str]]]:
    """The ticket as it was written, and where what is personal stands in it."""
    text, spans, before = "", list[tuple[int, int, str]](), 0
    for mark in _MARK.finditer(ticket):
        text += ticket[before : mark.start()]
        spans.append((len(text), len(text) + len(mark[2]), mark[1]))
        text += mark[2]
        before = mark.end()
    return text + ticket[before:], spans


def compared() -> tuple[Labelled, Labelled]:
    wanted: Labelled = set()
    labelled: Labelled = set()
    for number, ticket in enumerate(TICKETS):
        text, spans = unmarked(ticket)
        wanted |= {(number, *span) for span in spans}
        also = PEOPLE.finder(DEFAULT.kinds)
        labelled |= {
            (number, span.start, span.end, span.kind)
            for span in recognise(text, DEFAULT.kinds, at_least=DEFAULT.at_least, also=also)
        }
    return wanted, labelled


def test_most_of_what_is_personal_is_found_and_little_else(capsys: pytest.CaptureFixture[str]) -> None:
    wanted, found = compared()
    right = wanted & found
    precision, recall = len(right) / len(found), len(right) / len(wanted)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(TICKETS)} tickets, {len(wanted)} labels: precision {precision:.3f}, recall {recall:.3f}\n"
        )
        for number, start, end, kind in sorted(wanted ^ found):
            state = "missed" if (number, start, end, kind) in wanted else "too much"
            sys.stdout.write(f"  {state}: {kind} {unmarked(TICKETS[number])[0][start:end]!r}\n")
    assert len(TICKETS) == 48
    assert precision >= 0.97
    assert recall >= 0.95


def test_every_ticket_comes_back_as_it_was() -> None:
    run = Placeholders("k7qd2m")
    for ticket in TICKETS:
        text, _ = unmarked(ticket)
        redacted = Redactor(DEFAULT, PEOPLE).redact(text, run, from_outside=True).text
        assert run.restore(redacted, allow=ALL_KINDS) == text
