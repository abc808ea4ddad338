"""National ids are found by their check rule; a weak rule alone makes a number only possible."""

import pytest

from gaby.safety.redaction.id_checks import (
    has_valid_aadhaar,
    has_valid_bsn,
    has_valid_cpf,
    has_valid_dni,
    has_valid_fiscal_code,
    has_valid_nino,
    has_valid_nir,
    has_valid_pesel,
    has_valid_ssn,
    has_valid_tax_id,
)
from gaby.safety.redaction.national_ids import find_national_ids
from gaby.safety.redaction.sight import Sight
from gaby.safety.redaction.spans import Certainty
from tests.safety.redaction.looking import found

pytestmark = pytest.mark.promise("S5")

SURE, LIKELY, POSSIBLE = Certainty.SURE, Certainty.LIKELY, Certainty.POSSIBLE


def looked(text: str) -> list[tuple[str, Certainty]]:
    return [(text[span.start : span.end], span.certainty) for span in find_national_ids(Sight(text))]


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
        ("DNI 12345678Z", "12345678Z", LIKELY),
        ("DNI 12345678-z", "12345678-z", LIKELY),
        ("NIE X1234567L", "X1234567L", LIKELY),
        ("NIE X-1234567-L", "X-1234567-L", LIKELY),
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
def test_an_id_is_found_with_its_certainty(text: str, number: str, certainty: Certainty) -> None:
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
    assert found(find_national_ids, text) == []


def test_an_id_before_another_number_is_found() -> None:
    assert looked("111222333 2026")[0] == ("111222333", POSSIBLE)
    assert ("123-45-6789", LIKELY) in looked("123-45-6789 2026")
    assert looked("111 222 333 2026") == []


def test_every_id_in_a_row_is_found() -> None:
    assert found(find_national_ids, "123-45-6789 123-45-6780 111222333 12345678Z") == [
        "123-45-6789",
        "123-45-6780",
        "111222333",
        "12345678Z",
    ]
    assert found(find_national_ids, "12-345-67-8901") == []
    assert found(find_national_ids, "9 12345678Z") == ["12345678Z"]


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


@pytest.mark.parametrize(
    ("digits", "is_valid"),
    [
        ("123456789", True),
        ("001010001", True),
        ("899999999", True),
        ("000456789", False),
        ("666456789", False),
        ("665456789", True),
        ("900456789", False),
        ("123006789", False),
        ("123450000", False),
    ],
)
def test_social_security_numbers(digits: str, is_valid: bool) -> None:
    assert has_valid_ssn(digits) is is_valid


@pytest.mark.parametrize("first", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
def test_national_insurance_letters(first: str) -> None:
    assert has_valid_nino(f"{first}A123456C") is (first not in "DFIQUV")
    assert has_valid_nino(f"A{first}123456C") is (first not in "DFIQUVO")


@pytest.mark.parametrize("prefix", ["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"])
def test_national_insurance_prefixes_that_are_never_given(prefix: str) -> None:
    assert not has_valid_nino(f"{prefix}123456C")
    assert has_valid_nino("OA123456C")


@pytest.mark.parametrize("digits", ["86095742719", "47036892816", "65929970489", "57549285017", "25768131411"])
def test_german_tax_ids(digits: str) -> None:
    assert has_valid_tax_id(digits)
    assert not has_valid_tax_id(digits[:-1] + str((int(digits[-1]) + 1) % 10))


def tax_id(first_ten: str) -> str:
    """With the check digit that ISO 7064 mod 11, 10 asks for, worked out another way."""
    rest = 0
    for digit in first_ten:
        total = (int(digit) + (rest or 10)) % 10
        rest = (total or 10) * 2 % 11
    return first_ten + str((11 - (rest or 10)) % 10)


@pytest.mark.parametrize(
    ("first_ten", "is_valid"),
    [
        ("1123456789", True),
        ("1112345678", True),
        ("1111234567", False),
        ("1122345678", False),
        ("1234567890", False),
        ("0123456788", False),
        ("9012345677", True),
    ],
)
def test_a_german_tax_id_repeats_one_digit_twice_or_three_times(first_ten: str, is_valid: bool) -> None:
    assert has_valid_tax_id(tax_id(first_ten)) is is_valid


def test_the_check_digit_is_not_one_of_the_digits_that_may_repeat() -> None:
    for shift in range(10):
        first_ten = "".join(str((int(digit) + shift) % 10) for digit in "1112345678")
        assert has_valid_tax_id(tax_id(first_ten)) is (first_ten[0] != "0")


def nir(first: str) -> str:
    return f"{first}{97 - int(first.replace('2A', '19').replace('2B', '18')) % 97:02}"


@pytest.mark.parametrize(
    ("first", "is_valid"),
    [
        ("2550814168025", True),
        ("1800175004005", True),
        ("1801275004005", True),
        ("1801375004005", False),
        ("1801975004005", False),
        ("1802075004005", True),
        ("1809975004005", True),
        ("1800075004005", False),
        ("3800175004005", False),
        ("0800175004005", False),
        ("180012A004005", True),
        ("180012B004005", True),
    ],
)
def test_french_numbers(first: str, is_valid: bool) -> None:
    assert has_valid_nir(nir(first)) is is_valid
    wrong = nir(first)[:-1] + str((int(nir(first)[-1]) + 1) % 10)
    assert not has_valid_nir(wrong)


@pytest.mark.parametrize("text", ["12345678Z", "00000000T", "00000001R", "X1234567L", "Y1234567X", "Z1234567R"])
def test_spanish_letters(text: str) -> None:
    assert has_valid_dni(text)
    assert not has_valid_dni(text[:-1] + "I")


@pytest.mark.parametrize("text", ["RSSMRA85T10A562S", "MRTMTT91D08F205J", "MLLSNT82P65Z404U"])
def test_italian_codes(text: str) -> None:
    checks = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if has_valid_fiscal_code(text[:15] + letter)]
    assert checks == [text[15]]
    assert has_valid_fiscal_code(text.lower())


def fiscal_value(character: str) -> int:
    """The same table in the compact form in which it is often printed."""
    letter = character if character.isalpha() else chr(ord("A") + int(character))
    return "BAKPLCQDREVOSFTGUHMINJWZYX".index(letter)


@pytest.mark.parametrize("character", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
def test_the_italian_table(character: str) -> None:
    total = fiscal_value(character) + 7 * fiscal_value("A")
    assert has_valid_fiscal_code(f"{character}{'A' * 14}{chr(ord('A') + total % 26)}")


@pytest.mark.parametrize("digits", ["111222333", "123456782", "999999990"])
def test_dutch_numbers(digits: str) -> None:
    assert has_valid_bsn(digits)
    assert not has_valid_bsn(digits[:-1] + str((int(digits[-1]) + 1) % 10))
    assert not has_valid_bsn("000000000")


def pesel(first_ten: str) -> str:
    total = sum(int(digit) * (1, 3, 7, 9)[place % 4] for place, digit in enumerate(first_ten))
    return first_ten + str(-total % 10)


@pytest.mark.parametrize(
    ("first_ten", "is_valid"),
    [
        ("4405140135", True),
        ("4401010135", True),
        ("4412310135", True),
        ("4400140135", False),
        ("4413140135", False),
        ("4405000135", False),
        ("4405320135", False),
        ("0232140135", True),
        ("0292140135", True),
        ("0233140135", False),
    ],
)
def test_polish_numbers(first_ten: str, is_valid: bool) -> None:
    assert has_valid_pesel(pesel(first_ten)) is is_valid
    wrong = pesel(first_ten)[:-1] + str((int(pesel(first_ten)[-1]) + 1) % 10)
    assert not has_valid_pesel(wrong)


def test_a_polish_number_notices_every_single_wrong_digit() -> None:
    for place in range(6, 11):
        for change in range(1, 10):
            digits = "44051401359"
            wrong = digits[:place] + str((int(digits[place]) + change) % 10) + digits[place + 1 :]
            assert not has_valid_pesel(wrong)


@pytest.mark.parametrize("digits", ["52998224725", "11144477735", "12345678909"])
def test_brazilian_numbers(digits: str) -> None:
    assert has_valid_cpf(digits)
    assert not has_valid_cpf(digits[:9] + str((int(digits[9]) + 1) % 10) + digits[10])
    assert not has_valid_cpf(digits[:10] + str((int(digits[10]) + 1) % 10))
    assert not has_valid_cpf("11111111111")


@pytest.mark.parametrize("digits", ["234123412346", "999941057058", "499118665246"])
def test_indian_numbers(digits: str) -> None:
    assert has_valid_aadhaar(digits)
    for place in range(12):
        wrong = digits[:place] + str((int(digits[place]) + 1) % 10) + digits[place + 1 :]
        assert not has_valid_aadhaar(wrong)
    swapped = digits[0] + digits[2] + digits[1] + digits[3:]
    assert not has_valid_aadhaar(swapped) or digits[1] == digits[2]


@pytest.mark.parametrize(("first", "valid"), [("2", 1), ("9", 1), ("0", 0), ("1", 0)])
def test_an_indian_number_begins_with_two_or_more(first: str, valid: int) -> None:
    assert sum(has_valid_aadhaar(f"{first}0345678901{last}") for last in "0123456789") == valid
