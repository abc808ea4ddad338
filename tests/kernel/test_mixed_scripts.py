"""Look-alike letters are found in words that mix scripts, and ordinary writing is left alone."""

import pytest

from gaby.kernel.mixed_scripts import MixedWord, mixed_words


@pytest.mark.promise("S6")
@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("\u0430cc-1001", MixedWord("\u0430cc", "\u0430", "Cyrillic")),
        ("\u0430d\u0430@acme.example", MixedWord("\u0430d\u0430@acme.example", "\u0430", "Cyrillic")),
        ("p\u03bfst", MixedWord("p\u03bfst", "\u03bf", "Greek")),
        ("\uff41dmin", MixedWord("\uff41dmin", "\uff41", "Fullwidth")),
        ({"to": ["x", {"n\u0430me": 1}]}, MixedWord("n\u0430me", "\u0430", "Cyrillic")),
    ],
)
def test_a_letter_of_another_script_is_named(value: object, found: MixedWord) -> None:
    assert next(mixed_words(value)) == found


@pytest.mark.parametrize(
    "value",
    [
        "acc-1001",
        "Zo\u00eb from K\u00f6ln",
        "\u0441\u0435\u0440\u0432\u0435\u0440 nginx",
        "SSL-\u0441\u0435\u0440\u0442\u0438\u0444\u0438\u043a\u0430\u0442",
        "T\u30b7\u30e3\u30c4",
        7,
        None,
        {"a": [1.5, True]},
    ],
)
def test_ordinary_writing_mixes_nothing(value: object) -> None:
    assert [*mixed_words(value)] == []
