"""National ids are found by their check rule; a weak rule alone makes a number only possible."""

import pytest

from gaby.safety.redaction.national_ids import find_national_ids
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty
from tests.safety.redaction.looking import found_texts

pytestmark = pytest.mark.promise("S5")

SURE, LIKELY, POSSIBLE = SpanCertainty.SURE, SpanCertainty.LIKELY, SpanCertainty.POSSIBLE


def looked(text: str) -> list[tuple[str, SpanCertainty]]:
    return [(text[span.start : span.end], span.certainty) for span in find_national_ids(ScannedText(text))]


@pytest.mark.parametrize(
    ("text", "number", "certainty"),
    [
        ("My SSN is 123-45-6789.", "123-45-6789", SURE),
        ("social security: 123456789", "123456789", SURE),
        ("it is 123-45-6789 ok", "123-45-6789", LIKELY),
        ("it is 123 45 6789 ok", "123 45 6789", LIKELY),
        ("NI AB123456C here", "AB123456C", LIKELY),
        ("NI AB 12 34 56 C here", "AB 12 34 56 C", LIKELY),
        ("ab123456c", "ab123456c", LIKELY),
        ("Steuer-ID: 86095742719", "86095742719", SURE),
        ("meine 86 095 742 719 ist", "86 095 742 719", LIKELY),
        ("number 86095742719", "86095742719", POSSIBLE),
        ("NIR 255081416802538", "255081416802538", SURE),
        ("2 55 08 14 168 025 38", "2 55 08 14 168 025 38", LIKELY),
        ("x 255081416802538", "255081416802538", LIKELY),
        ("DNI 12345678Z", "12345678Z", SURE),
        ("DNI 12345678-z", "12345678-z", SURE),
        ("NIE X1234567L", "X1234567L", SURE),
        ("NIE X-1234567-L", "X-1234567-L", SURE),
        ("X1234567L", "X1234567L", LIKELY),
        ("CF RSSMRA85T10A562S", "RSSMRA85T10A562S", SURE),
        ("cf rssmra85t10a562s.", "rssmra85t10a562s", SURE),
        ("BSN: 111222333", "111222333", SURE),
        ("it is 1112.22.333 ok", "1112.22.333", LIKELY),
        ("PESEL 44051401359", "44051401359", SURE),
        ("it is 440514-01359 ok", "440514-01359", LIKELY),
        ("CPF 529.982.247-25", "529.982.247-25", SURE),
        ("it is 529.982.247-25 ok", "529.982.247-25", LIKELY),
        ("it is 52998224725 ok", "52998224725", POSSIBLE),
        ("Aadhaar 234123412346", "234123412346", SURE),
        ("it is 2341 2341 2346 ok", "2341 2341 2346", LIKELY),
        ("it is 2341-2341-2346 ok", "2341-2341-2346", LIKELY),
    ],
)
def test_an_id_is_found_with_its_certainty(text: str, number: str, certainty: SpanCertainty) -> None:
    assert (number, certainty) in looked(text)


def test_a_bare_number_that_passes_a_weak_check_is_only_possible() -> None:
    assert looked("order 111222333") == [("111222333", POSSIBLE)]
    assert looked("order 44051401359") == [("44051401359", POSSIBLE)]
    assert looked("order 234123412346") == [("234123412346", POSSIBLE)]


@pytest.mark.parametrize(
    "text",
    [
        "123456780",  # nine digits without a word, and no BSN
        "ssn 000-45-6789",
        "ssn 666-45-6789",
        "ssn 900-45-6789",
        "ssn 123-00-6789",
        "ssn 123-45-0000",
        "123-45 6789",
        "12-345-6789",
        "AB123456E",
        "DB123456C",
        "AO123456C",
        "GB123456C",
        "AB1234567C",
        "xAB123456C",
        "AB123456Cx",
        "A_123456C",
        "86095742718",
        "steuer 86095742718",
        "255081416802539",
        "12345678A",
        "123456789Z",
        "x12345678Z",
        "X1234567A",
        "W1234567L",
        "RSSMRA85T10A562T",
        "RSSMRA85T10A562SX",
        "XRSSMRA85T10A562S",
        "bsn 111222334",
        "pesel 44051401358",
        "cpf 529.982.247-24",
        "cpf 111.111.111-11",
        "aadhaar 234123412347",
        "aadhaar 134123412346",
        "x111222333",
        "111222333x",
        "11-122-2333",
        "",
    ],
)
def test_a_wrong_check_is_no_id(text: str) -> None:
    assert found_texts(find_national_ids, text) == []


def test_an_id_before_another_number_is_found() -> None:
    assert looked("111222333 2026")[0] == ("111222333", POSSIBLE)
    assert ("123-45-6789", LIKELY) in looked("123-45-6789 2026")
    assert looked("111 222 333 2026") == []


def test_every_id_in_a_row_is_found() -> None:
    assert found_texts(find_national_ids, "123-45-6789 123-45-6780 111222333 12345678Z") == [
        "123-45-6789",
        "123-45-6780",
        "111222333",
        "12345678Z",
    ]
    assert found_texts(find_national_ids, "12-345-67-8901") == []
    assert found_texts(find_national_ids, "9 12345678Z") == ["12345678Z"]


def test_a_corsican_number_is_found() -> None:
    number = f"18001 2A 004 005 {97 - 1800119004005 % 97:02}"
    written = f"1 80 01 2A 004 005 {number[-2:]}"
    assert looked(f"no {written} ok") == [(written, SURE)]
    other = f"180012B004005{97 - 1800118004005 % 97:02}"
    assert looked(other) == [(other, SURE)]
    assert looked(other.lower()) == [(other.lower(), SURE)]
    assert looked(f"x{other}") == []
    assert looked("180012B00400500") == []


def test_a_word_far_before_a_number_says_nothing_of_it() -> None:
    assert looked("ssn" + " " * 37 + "123456789") == [("123456789", SURE)]
    assert looked("ssn" + " " * 38 + "123456789") == []


@pytest.mark.parametrize("first", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
def test_national_insurance_numbers_begin_with_letters_that_are_given(first: str) -> None:
    assert bool(found_texts(find_national_ids, f"{first}A123456C")) is (first not in "DFIQUV")
    assert bool(found_texts(find_national_ids, f"A{first}123456C")) is (first not in "DFIQUVO")


@pytest.mark.parametrize("prefix", ["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"])
def test_national_insurance_prefixes_that_are_never_given(prefix: str) -> None:
    assert found_texts(find_national_ids, f"{prefix}123456C") == []


def test_among_many_numbers_an_id_is_still_known_by_its_word() -> None:
    many = " ".join(str(number) for number in range(10_000, 10_150))
    assert found_texts(find_national_ids, f"{many} TFN 839 764 745") == ["839 764 745"]
    assert found_texts(find_national_ids, f"{many} number 839 764 745") == []


def test_a_number_that_a_check_cannot_cope_with_is_no_id() -> None:
    """python-stdnum raises on a district of China that no table has; a ticket with such a number must not fail."""
    assert looked("id card 110001198001011237") == []
