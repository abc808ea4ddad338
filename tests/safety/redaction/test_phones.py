"""Telephone numbers are found by their plus, their groups or the word before them; order numbers and times are not."""

import pytest

from gaby.safety.redaction.phones import find_phones
from gaby.safety.redaction.spans import SpanCertainty
from tests.safety.redaction.looking import certainties, found_texts

pytestmark = pytest.mark.promise("S5")


@pytest.mark.parametrize(
    "number",
    [
        "+49 151 12345678",
        "+4915112345678",
        "+49 (0)151 123 456 78",
        "+1 (415) 555-0100",
        "+1-415-555-0100",
        "+44 20 7946 0958",
        "+33.1.23.45.67.89",
        "+ 49 151 12345678",
        "+(49) 151 12345678",
        "+1234567",
        "+123456789012345",
        "+49 30/1234567",
    ],
)
def test_an_international_number_is_found(number: str) -> None:
    assert found_texts(find_phones, number)[0] == number
    assert found_texts(find_phones, f"call {number}, now")[0] == number
    assert SpanCertainty.SURE in certainties(find_phones, number)


@pytest.mark.parametrize(
    "number",
    [
        "(415) 555-0100",
        "(415)555-0100",
        "415-555-0100",
        "415.555.0100",
        "415 555 0100",
        "1-800-555-0100",
        "1 415 555-0100",
        "020 7946 0958",
        "07700 900123",
        "0151 12345678",
        "030/1234567",
        "089 / 12 34 56 78",
        "01 23 45 67 89",
        "01.23.45.67.89",
        "0412 345 678",
        "(030) 1234567",
        "0049 151 12345678",
        "004915112345678",
        "00 49 151 12345678",
    ],
)
def test_a_national_number_is_found_by_its_groups(number: str) -> None:
    assert found_texts(find_phones, number) == [number]
    assert found_texts(find_phones, f"It is {number}.") == [number]
    assert certainties(find_phones, number) == [SpanCertainty.LIKELY]


@pytest.mark.parametrize("said", ["Phone: ", "tel ", "call me at ", "whatsapp=", "Handy: ", "my mobile is ", "fax."])
def test_a_word_makes_bare_digits_a_number(said: str) -> None:
    for number in ("4155550100", "5550100", "555 0100", "612 345 678", "123456789012345"):
        assert found_texts(find_phones, f"{said}{number}!") == [number]
    assert found_texts(find_phones, f"{said}1234567890123456") == []
    assert found_texts(find_phones, f"{said}1234 5678 9012 3456") == []


@pytest.mark.parametrize("said", ["order ", "Invoice #", "ticket: ", "ref. ", "case no ", "id=", "#", "tracking: "])
def test_a_number_of_something_else_is_no_telephone(said: str) -> None:
    for number in ("415-555-0100", "0151 12345678", "01 23 45 67 89", "0049 151 12345678"):
        assert found_texts(find_phones, f"{said}{number}") == []


def test_a_phone_number_may_be_called_a_number() -> None:
    assert found_texts(find_phones, "phone number 415-555-0100") == ["415-555-0100"]
    assert found_texts(find_phones, "phone no 4155550100") == ["4155550100"]


@pytest.mark.parametrize(
    "text",
    [
        "4155550100",
        "1700000000",
        "1700000000000",
        "2026-11-15",
        "2026-11-15 05:10:46",
        "15.11.2026 10",
        "115-555-0100",
        "415-155-0100",
        "415-555-01000",
        "415-555-010",
        "x415-555-0100",
        "415-555-0100x",
        "5+1234567",
        "++1234567",
        "+123456",
        "+0123456789",
        "+1234567x",
        "00 12",
        "01 23 45",
        "0001234567890",
        "0049 1511",
        "192.168.100.200",
        "10.0.0.1",
        "01 23 45 67 8",
        "0123 1234567890",
        "123-45-6789",
        "",
    ],
)
def test_ids_and_times_are_no_telephone(text: str) -> None:
    assert found_texts(find_phones, text) == []


def test_the_longest_and_shortest_national_numbers() -> None:
    assert found_texts(find_phones, "030 123456") == ["030 123456"]
    assert found_texts(find_phones, "030 12345") == []
    assert found_texts(find_phones, "0301 12345678") == ["0301 12345678"]
    assert found_texts(find_phones, "03012 12345678") == []


def test_a_parenthesis_belongs_to_a_number_only_with_its_other_half() -> None:
    assert found_texts(find_phones, "(415-555-0100)") == ["415-555-0100"]
    assert found_texts(find_phones, "x 415) 555-0100") == ["415) 555-0100"]


def test_a_loosely_grouped_number_has_at_most_fifteen_digits() -> None:
    assert found_texts(find_phones, "phone 1234 5678 9012 345") == ["1234 5678 9012 345"]


def test_every_number_in_a_row_is_found() -> None:
    numbers = [f"415-555-{n:04}" for n in range(30)]
    assert found_texts(find_phones, " ".join(numbers)) == numbers
    assert found_texts(find_phones, "5 (415) 555-0100") == ["(415) 555-0100"]
    assert found_texts(find_phones, "5-415-555-0100") == []


def test_a_word_far_before_digits_says_nothing_of_them() -> None:
    assert found_texts(find_phones, "call" + " " * 16 + "5550100") == ["5550100"]
    assert found_texts(find_phones, "call" + " " * 17 + "5550100") == []
    assert found_texts(find_phones, "called\n5550100") == []


def test_a_number_in_a_field_named_phone_is_found() -> None:
    assert found_texts(find_phones, "phone\x1e5550100") == ["5550100"]
