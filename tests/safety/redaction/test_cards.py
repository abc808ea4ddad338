"""Cards are found by brand, length and Luhn check, however they are grouped, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.safety.redaction.cards import find_cards, has_luhn
from gaby.safety.redaction.spans import SpanCertainty
from tests.safety.redaction.looking import certainties, found_texts

pytestmark = pytest.mark.promise("S5")


def completed(digits: str) -> str:
    return next(digits + last for last in "0123456789" if has_luhn(digits + last))


KNOWN = [
    "4111111111111111",
    "4222222222222",
    "5555555555554444",
    "5105105105105100",
    "2223003122003222",
    "378282246310005",
    "341111111111111",
    "6011111111111117",
    "30569309025904",
    "38520000023237",
    "36700102000000",
    "3530111333300000",
    "6240008631401148",
    "6759649826438453",
    "6304000000000000",
]


@pytest.mark.parametrize("number", KNOWN)
def test_a_card_of_each_brand_is_found(number: str) -> None:
    assert found_texts(find_cards, f"card: {number}.") == [number]
    assert certainties(find_cards, number) == [SpanCertainty.SURE]


@pytest.mark.parametrize("number", KNOWN)
def test_a_wrong_check_digit_is_no_card(number: str) -> None:
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert found_texts(find_cards, wrong) == []


@pytest.mark.parametrize(
    ("prefix", "length"),
    [
        ("2200", 16),
        ("2204", 16),
        ("2221", 16),
        ("2720", 16),
        ("300", 14),
        ("305", 14),
        ("34", 15),
        ("3528", 16),
        ("3589", 16),
        ("36", 14),
        ("37", 15),
        ("38", 14),
        ("39", 14),
        ("4", 13),
        ("4", 16),
        ("4", 19),
        ("5018", 12),
        ("5018", 13),
        ("5018", 16),
        ("5018", 19),
        ("5020", 12),
        ("5020", 13),
        ("5020", 16),
        ("5020", 19),
        ("5038", 12),
        ("5038", 13),
        ("5038", 16),
        ("5038", 19),
        ("51", 16),
        ("55", 16),
        ("5893", 12),
        ("5893", 13),
        ("5893", 16),
        ("5893", 19),
        ("6011", 16),
        ("6011", 19),
        ("62", 16),
        ("62", 17),
        ("62", 18),
        ("62", 19),
        ("6304", 12),
        ("6304", 13),
        ("6304", 16),
        ("6304", 19),
        ("644", 16),
        ("644", 19),
        ("649", 16),
        ("65", 16),
        ("65", 19),
        ("6759", 12),
        ("6759", 13),
        ("6759", 19),
        ("6763", 16),
    ],
)
def test_every_brand_has_its_lengths(prefix: str, length: int) -> None:
    number = completed(prefix.ljust(length - 1, "7"))
    assert found_texts(find_cards, number) == [number]


@pytest.mark.parametrize(
    ("prefix", "length"),
    [
        ("2199", 16),
        ("2205", 16),
        ("2220", 16),
        ("2721", 16),
        ("299", 14),
        ("306", 14),
        ("33", 15),
        ("34", 16),
        ("35", 15),
        ("3527", 16),
        ("3590", 16),
        ("40", 15),
        ("40", 12),
        ("5017", 16),
        ("5019", 16),
        ("50", 16),
        ("51", 15),
        ("56", 16),
        ("5892", 16),
        ("5894", 16),
        ("6010", 16),
        ("6012", 16),
        ("61", 16),
        ("62", 15),
        ("6303", 16),
        ("6305", 16),
        ("643", 16),
        ("66", 16),
        ("6758", 16),
        ("6764", 16),
        ("1", 16),
        ("7", 16),
        ("9", 16),
    ],
)
def test_other_prefixes_and_lengths_are_no_card(prefix: str, length: int) -> None:
    assert found_texts(find_cards, completed(prefix.ljust(length - 1, "7"))) == []


@pytest.mark.parametrize(
    "written",
    [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111.1111.1111.1111",
        "4111 1111-1111.1111",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "4111 - 1111 - 1111 - 1111",
        "3782 822463 10005",
    ],
)
def test_groups_do_not_hide_a_card(written: str) -> None:
    assert found_texts(find_cards, f"paid with {written}, thanks") == [written]


@pytest.mark.parametrize(
    ("sizes", "separators", "answer"),
    [
        ((4, 4, 4, 4), " - ", True),
        ((4, 6, 6), " -", True),
        ((2,) * 8, " -. -. ", True),
        ((3, 3, 4, 6), "----", True),
        ((3, 3, 4, 6), "-- -", False),
        ((5, 4, 4, 3), "....", True),
        ((5, 4, 4, 3), ". ..", False),
        ((3, 3, 4, 3), "----", False),
        ((3, 3, 4, 4), "----", True),
        ((4, 3, 3, 3), "----", True),
        ((13,), "", True),
    ],
)
def test_a_card_is_grouped_like_one(sizes: tuple[int, ...], separators: str, answer: bool) -> None:
    number = completed(("36" if sum(sizes) == 14 else "4").ljust(sum(sizes) - 1, "7"))
    text = ""
    for place, size in enumerate(sizes):
        done = sum(sizes[:place])
        text += (separators[place - 1] if place else "") + number[done : done + size]
    assert found_texts(find_cards, text) == ([text] if answer else [])


def test_what_stands_beside_a_card_is_not_taken_for_a_part_of_it() -> None:
    assert found_texts(find_cards, "4111 1111 1111 1111 12/26 123") == ["4111 1111 1111 1111"]
    assert found_texts(find_cards, "2 4111 1111 1111 1111") == ["4111 1111 1111 1111"]
    assert found_texts(find_cards, "4111111111111111 5555555555554444") == ["4111111111111111", "5555555555554444"]
    assert found_texts(find_cards, "4111111111111111 4111111111111111") == ["4111111111111111", "4111111111111111"]


@pytest.mark.parametrize(
    "text",
    [
        "x4111111111111111",
        "4111111111111111x",
        "_4111111111111111",
        "94111111111111111",
        "41111111111111119",
        "+4111111111111111",
        "4111/1111/1111/1111",
        "(4111)111111111111",
        "4111    1111    1111    1111",
        "1700000000000",
        "550e8400-e29b-41d4-a716-411111111111",
        "created_at 2026-11-15 05:10:46",
        "",
        "41111",
    ],
)
def test_ids_and_times_are_no_card(text: str) -> None:
    assert found_texts(find_cards, text) == []


def test_a_card_after_a_uuid_is_found() -> None:
    text = "550e8400-e29b-41d4-a716-446655440000 4111111111111111"
    assert found_texts(find_cards, text) == ["4111111111111111"]


MAESTRO = completed("67597777777")


@pytest.mark.parametrize("first", ["550e8400-e29b-41d4-a716-", "12345678-1234-1234-1234-", "12345678-1a34-1a34-1a34-"])
@pytest.mark.parametrize("before", ["", "x ", "id:", "a" * 40 + " "])
def test_the_digits_of_a_uuid_are_no_card(first: str, before: str) -> None:
    assert found_texts(find_cards, f"{before}{MAESTRO}") == [MAESTRO]
    assert found_texts(find_cards, f"{before}{first}{MAESTRO}") == []
    assert found_texts(find_cards, f"{before}{first}{MAESTRO} {MAESTRO}") == [MAESTRO]


def test_a_card_near_a_uuid_is_found() -> None:
    for uuid in ("550e8400-e29b-41d4-a716-44665544000a", "550e8400-e29b-41d4-a716-446655440000"):
        for between in (" ", " x ", ", "):
            assert found_texts(find_cards, f"{uuid}{between}{MAESTRO}") == [MAESTRO]
            assert found_texts(find_cards, f"{MAESTRO}{between}{uuid}") == [MAESTRO]


def test_a_card_after_a_date_is_found() -> None:
    assert found_texts(find_cards, "2026-11-15 4111111111111111") == ["4111111111111111"]
    assert found_texts(find_cards, "15.11.2026 4111111111111111") == ["4111111111111111"]


@pytest.mark.parametrize("number", ["0", "18", "79927398713", "4111111111111111", "59"])
def test_luhn_accepts(number: str) -> None:
    assert has_luhn(number)


@pytest.mark.parametrize("number", ["1", "19", "79927398710", "4111111111111112"])
def test_luhn_rejects(number: str) -> None:
    assert not has_luhn(number)


@given(st.text(alphabet="0123456789", min_size=1, max_size=30), st.integers(0, 29), st.integers(1, 9))
def test_luhn_notices_every_single_wrong_digit(digits: str, place: int, change: int) -> None:
    good = completed(digits)
    place %= len(good)
    wrong = good[:place] + str((int(good[place]) + change) % 10) + good[place + 1 :]
    assert not has_luhn(wrong)
