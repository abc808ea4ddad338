"""Dates of birth and record numbers are found where a word says so, and other dates stay."""

import pytest

from gaby.safety.redaction.health import find_birth_dates, find_medical_ids
from gaby.safety.redaction.spans import SpanCertainty
from tests.safety.redaction.looking import certainties, found_texts

pytestmark = pytest.mark.promise("S5")

DATES = [
    "1980-02-01",
    "1980/2/1",
    "01.02.1980",
    "2/1/80",
    "01 02 1980",
    "1 February 1980",
    "1st of Feb 1980",
    "February 1, 1980",
    "Feb. 1st 1980",
    "2. Februar 1980",
    "1899-12-31",
    "2001-01-01",
]


@pytest.mark.parametrize("date", DATES)
@pytest.mark.parametrize(
    "said", ["DOB: ", "date of birth ", "born on ", "Birthday is ", "Geburtsdatum: ", "geboren am ", "dob\x1e", "bday "]
)
def test_a_date_of_birth_is_found(said: str, date: str) -> None:
    assert found_texts(find_birth_dates, f"{said}{date}, ok") == [date]
    assert certainties(find_birth_dates, f"{said}{date}") == [SpanCertainty.LIKELY]


@pytest.mark.parametrize(
    "text",
    [
        "1980-02-01",
        "created 1980-02-01",
        "born in 1980",
        "born yesterday, order of 1980-02-01",
        "dob 1980-02-011",
        "birth 1780-02-01",
        "newborn screening protocol 1980-02-01",
    ],
)
def test_other_dates_stay(text: str) -> None:
    assert found_texts(find_birth_dates, text) == []


def test_every_date_of_birth_is_found() -> None:
    text = "born 1980-02-01 and born 1981-02-01; fecha de nacimiento 01/02/1980, date de naissance: 01/02/1981"
    assert sorted(found_texts(find_birth_dates, text)) == ["01/02/1980", "01/02/1981", "1980-02-01", "1981-02-01"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("MRN 12345", "12345"),
        ("MRN: A-1234567", "a-1234567"),
        ("mrn#123456789012", "123456789012"),
        ("medical record number is 1234567", "1234567"),
        ("patient id=884422", "884422"),
        ("patient_id\x1e884422", "884422"),
        ("health plan no. 884422", "884422"),
        ("Medicare 884422", "884422"),
        ("patient number 884422", "884422"),
    ],
)
def test_a_record_number_is_found(text: str, number: str) -> None:
    assert [one.lower() for one in found_texts(find_medical_ids, text)] == [number]
    assert certainties(find_medical_ids, text) == [SpanCertainty.LIKELY]


@pytest.mark.parametrize("text", ["MRN 1234", "MRN 1234567890123", "record 12345", "mrn is unknown", ""])
def test_other_numbers_are_no_record(text: str) -> None:
    assert found_texts(find_medical_ids, text) == []
