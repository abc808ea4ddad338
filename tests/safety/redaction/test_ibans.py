"""Bank accounts are found by country, length and check digits."""

import pytest

from gaby.safety.redaction.ibans import find_ibans
from gaby.safety.redaction.spans import SpanCertainty
from tests.safety.redaction.looking import certainties, found_texts

pytestmark = pytest.mark.promise("S5")

KNOWN = [
    "DE89370400440532013000",
    "GB82WEST12345698765432",
    "FR1420041010050500013M02606",
    "NL91ABNA0417164300",
    "NO9386011117947",
    "BE68539007547034",
    "CH9300762011623852957",
    "ES9121000418450200051332",
    "IT60X0542811101000000123456",
    "PL61109010140000071219812874",
    "MT84MALT011000012345MTLCAST001S",
    "LC55HEMM000100010012001200023015",
]


def completed(country: str, length: int) -> str:
    """An IBAN of this length with the check digits that it needs."""
    account = "1".rjust(length - 4, "0")
    number = int("".join(str(int(character, 36)) for character in f"{account}{country}00"))
    return f"{country}{98 - number % 97:02}{account}"


@pytest.mark.parametrize("number", KNOWN)
def test_an_account_of_each_country_is_found(number: str) -> None:
    assert found_texts(find_ibans, f"pay {number}, please") == [number]
    assert found_texts(find_ibans, number) == [number]
    assert certainties(find_ibans, number) == [SpanCertainty.SURE]


@pytest.mark.parametrize("number", KNOWN)
def test_a_wrong_check_digit_is_no_account(number: str) -> None:
    wrong = number[:3] + str((int(number[3]) + 1) % 10) + number[4:]
    assert found_texts(find_ibans, wrong) == []
    assert found_texts(find_ibans, f"a {wrong}") == []


@pytest.mark.parametrize("number", KNOWN)
def test_case_and_groups_do_not_hide_an_account(number: str) -> None:
    grouped = " ".join(number[place : place + 4] for place in range(0, len(number), 4))
    assert found_texts(find_ibans, f"to {grouped}. Thanks") == [grouped]
    assert found_texts(find_ibans, grouped.replace(" ", "-").lower()) == [grouped.replace(" ", "-").lower()]
    assert found_texts(find_ibans, grouped.replace(" ", " -")) == [grouped.replace(" ", " -")]


@pytest.mark.parametrize(
    ("length", "countries"),
    [
        (15, "NO"),
        (16, "BE"),
        (18, "DK FK FI FO GL NL SD"),
        (19, "MK SI"),
        (20, "AT BA EE KZ LT LU MN XK"),
        (21, "CH HR LI LV"),
        (22, "BG BH CR DE GB GE IE ME RS VA"),
        (23, "AE GI IL IQ OM SO TL"),
        (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
        (25, "LY PT ST"),
        (26, "IS TR"),
        (27, "BI DJ FR GR IT MC MR SM"),
        (28, "AL AZ BY CY DO GT HU LB NI PL SV"),
        (29, "BR EG PS QA UA"),
        (30, "JO KW MU YE"),
        (31, "MT SC"),
        (32, "LC"),
        (33, "RU"),
    ],
)
def test_every_country_has_its_length(length: int, countries: str) -> None:
    for country in countries.split():
        number = completed(country, length)
        assert found_texts(find_ibans, number) == [number]
        assert found_texts(find_ibans, completed(country, length - 1)) == []


def test_what_follows_an_account_is_not_taken_for_a_part_of_it() -> None:
    assert found_texts(find_ibans, "DE89 3704 0044 0532 0130 00 and 5 more") == ["DE89 3704 0044 0532 0130 00"]
    assert found_texts(find_ibans, "DE89 3704 0044 0532 0130 00 4711") == ["DE89 3704 0044 0532 0130 00"]


@pytest.mark.parametrize(
    "text",
    [
        "xDE89370400440532013000",
        "DE893704004405320130001",
        "ZZ89370400440532013000",
        "DE8937040044053201300",
        "D_89370400440532013000",
        "DE89",
        "AB12CD34",
        "DE89 3704   0044 0532 0130 00",
    ],
)
def test_other_words_are_no_account(text: str) -> None:
    assert found_texts(find_ibans, text) == []
    assert found_texts(find_ibans, f"a {text}") == []
