"""What overlaps becomes one, so that no end of a secret is left standing."""

from itertools import pairwise

import pytest

from gaby.safety.redaction.detection import merge, recognise
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import ALL_KINDS, PERSONAL_KINDS, SECRET_KINDS, Kind, SpanCertainty, TextSpan

pytestmark = pytest.mark.promise("S5")

SURE, LIKELY, POSSIBLE = SpanCertainty.SURE, SpanCertainty.LIKELY, SpanCertainty.POSSIBLE


def test_overlapping_spans_become_one() -> None:
    spans = [TextSpan(5, 9, "phone", LIKELY), TextSpan(0, 6, "card", SURE)]
    assert merge(spans) == [TextSpan(0, 9, "card", SURE)]


def test_a_span_inside_another_disappears_in_it() -> None:
    assert merge([TextSpan(0, 9, "phone", LIKELY), TextSpan(2, 4, "password", SURE)]) == [
        TextSpan(0, 9, "password", SURE)
    ]
    assert merge([TextSpan(0, 9, "password", SURE), TextSpan(2, 4, "phone", LIKELY)]) == [
        TextSpan(0, 9, "password", SURE)
    ]


def test_neighbours_stay_two() -> None:
    spans = [TextSpan(0, 3, "phone", LIKELY), TextSpan(3, 5, "card", SURE)]
    assert merge(spans) == spans
    assert merge([]) == []


ORDER: list[Kind] = [
    "private_key",
    "api_key",
    "token",
    "password",
    "card",
    "iban",
    "email",
    "national_id",
    "medical_id",
    "mac",
    "ip",
    "account",
    "phone",
    "birth_date",
    "name",
    "address",
    "personal",
]


def test_the_more_telling_kind_gives_the_name() -> None:
    assert set(ORDER) == ALL_KINDS
    for stronger, weaker in pairwise(ORDER):
        assert merge([TextSpan(0, 2, weaker, LIKELY), TextSpan(1, 3, stronger, LIKELY)])[0].kind == stronger
        assert merge([TextSpan(0, 2, stronger, LIKELY), TextSpan(1, 3, weaker, LIKELY)])[0].kind == stronger


def test_kinds_are_personal_or_secret() -> None:
    assert PERSONAL_KINDS | SECRET_KINDS == ALL_KINDS
    assert not PERSONAL_KINDS & SECRET_KINDS
    assert sorted(SECRET_KINDS) == ["api_key", "password", "private_key", "token"]


TEXT = (
    "ada@acme.example 4111111111111111 DE89370400440532013000 +49 151 12345678; 10.0.0.5 00:1A:2B:3C:4D:5E; "
    "born 1980-02-01; MRN 1234567; SSN 123-45-6789; password=hunter2"
)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("email", "ada@acme.example"),
        ("card", "4111111111111111"),
        ("iban", "DE89370400440532013000"),
        ("phone", "+49 151 12345678"),
        ("ip", "10.0.0.5"),
        ("mac", "00:1A:2B:3C:4D:5E"),
        ("birth_date", "1980-02-01"),
        ("medical_id", "1234567"),
        ("national_id", "123-45-6789"),
        ("password", "hunter2"),
    ],
)
def test_only_the_kinds_asked_for_are_looked_for(kind: Kind, found: str) -> None:
    spans = recognise(TEXT, {kind})
    assert [(TEXT[span.start : span.end], span.kind) for span in spans] == [(found, kind)]


def test_all_kinds_are_looked_for_by_default() -> None:
    assert len(recognise(TEXT)) == 10
    assert recognise(TEXT, ()) == []


def test_what_is_less_certain_than_asked_for_is_left() -> None:
    assert [span.certainty for span in recognise("order 111222333")] == [POSSIBLE]
    assert recognise("order 111222333", at_least=LIKELY) == []
    assert [span.certainty for span in recognise("12345678Z", at_least=LIKELY)] == [LIKELY]
    assert recognise("12345678Z", at_least=SURE) == []


def test_one_more_way_to_look_can_be_given() -> None:
    def first_letter(sight: ScannedText) -> list[TextSpan]:
        return [TextSpan(0, 1, "name", SURE)]

    assert recognise("x", also=first_letter) == [TextSpan(0, 1, "name", SURE)]


HOSTILE = [
    "4 ",
    "4111 1111 1111 1112 ",
    "1",
    "a",
    "@",
    "a@",
    "a@a.",
    "a.",
    ".",
    ":",
    "::",
    "1.",
    "-",
    "eyJ",
    "eyJaaaaaa.",
    "sk-",
    "sk-a-",
    "-----BEGIN ",
    "-----BEGIN A A A ",
    "password",
    "password=",
    "key: ",
    "key-",
    "bearer ",
    "://",
    "://a:",
    "://a:a",
    "+1 ",
    "+",
    "00",
    "0",
    "DE89",
    "DE89 ",
    "AA00",
    "AA 00 ",
    "aaaaaa00",
    "(at)",
    "a(at)a.",
    "born ",
    "mrn ",
    "2a",
    "12 34 56 2A",
    "é\u200b",
    "\u200b",
    "550e8400-",
]


def repeated(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_is_read_to_its_end(piece: str) -> None:
    text = repeated(piece, 100_000)
    assert recognise(f"{text} ada@acme.example")[-1].end == len(text) + 17


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["4 ", "4111 1111 1111 1112 ", "1", "a@", "eyJ", "password=", "-----BEGIN ", "DE89 ", "://a:", "\u200b", "2A "],
)
def test_a_hostile_text_of_a_megabyte_is_read_to_its_end(piece: str) -> None:
    text = repeated(piece, 1_000_000)
    assert recognise(f"{text} ada@acme.example")[-1].end == len(text) + 17
