"""Long texts are searched in windows, and what is found does not depend on where they are cut."""

from itertools import pairwise

import pytest

from gaby.safety.redaction import ALL_KINDS, Placeholders, Redactor, recognise
from gaby.safety.redaction.text_windows import OVERLAP, WINDOW, windows

pytestmark = pytest.mark.promise("S5")

WORDS = "The parcel left the depot on Monday. "


def padded(length: int) -> str:
    return (WORDS * (length // len(WORDS) + 1))[:length]


def test_windows_cover_a_text_and_overlap() -> None:
    text = "x" * (3 * WINDOW)
    cut = list(windows(text))
    assert cut[0].start == 0
    assert cut[-1].end == len(text)
    assert all(one.end - other.start == OVERLAP for one, other in pairwise(cut))
    assert [window.is_first for window in cut] == [True, *[False] * (len(cut) - 1)]
    assert [window.is_last for window in cut] == [*[False] * (len(cut) - 1), True]
    assert list(windows("")) == [(0, 0, True, True)]


@pytest.mark.parametrize("shift", range(-40, 41, 8))
@pytest.mark.parametrize(
    "value", ["4111 1111 1111 1111", "ada.lovelace@acme.example", "password: hunter2!x", "DE89 3704 0044 0532 0130 00"]
)
def test_nothing_is_lost_at_a_cut(value: str, shift: int) -> None:
    for place in (WINDOW, WINDOW - OVERLAP):
        text = padded(place + shift) + f" {value} " + padded(WINDOW)
        secret = value.removeprefix("password: ")
        found = [text[span.start : span.end] for span in recognise(text)]
        assert found == [secret]


def test_a_cut_makes_nothing_out_of_a_piece() -> None:
    digits = "9" + "4111111111111111" + "9"
    for shift in range(20):
        assert recognise(padded(WINDOW - shift) + digits + padded(WINDOW)) == []
        assert recognise(padded(WINDOW - OVERLAP - shift) + digits + padded(WINDOW)) == []


def test_a_key_and_a_token_longer_than_a_window_go_as_a_whole() -> None:
    token = "sk-" + "aB3d" * WINDOW
    key = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIE" * WINDOW + "\n-----END PRIVATE KEY-----"
    for secret in (token, key):
        text = f"it is {secret} there"
        assert [text[span.start : span.end] for span in recognise(text)] == [secret]
    assert recognise(key, {"email"}) == []


def test_a_long_text_comes_back_as_it_was() -> None:
    text = (padded(3000) + " ada@acme.example 4111 1111 1111 1111 ") * 20
    run = Placeholders("k7qd2m")
    redacted = Redactor().redact(text, run)
    assert redacted.kinds == {"email": 20, "card": 20}
    assert "acme" not in redacted.text
    assert run.restore(redacted.text, allow=ALL_KINDS) == text


def test_a_second_look_makes_nothing_out_of_a_piece() -> None:
    run = Placeholders("k7qd2m")
    filler = (", " + WORDS * 10)[:183] + " "
    text = f"a@b.example{filler}41111111111111119999 {WORDS * 4}"
    redacted = Redactor().redact(text, run)
    assert redacted.kinds == {"email": 1}
    assert redacted.text[200:220] == "41111111111111119999"


def test_looking_again_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gaby.safety.redaction.redactor._MOST_PASSES", 1)
    assert Redactor().redact("a@b.example", Placeholders("k7qd2m")).kinds == {"email": 1}


def test_a_long_list_of_single_digits_is_no_number() -> None:
    spelled = " ".join("4111111111111111")
    assert [span.kind for span in recognise(spelled, {"card"})] == ["card"]
    assert recognise("4 " * 200) == []
