"""Things that people, programs and attackers put where a ticket should be."""

from typing import Any

from hypothesis import strategies as st


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


VALUES: dict[str, Any] = {
    "nothing": None,
    "a number": 7,
    "a huge number": 10**300,
    "not a number": float("nan"),
    "true": True,
    "a list": ["a", 1, None],
    "an object": {"name": {"name": []}},
    "empty": "",
    "NUL": "a\0b",
    "half a pair": "a\ud800b",
    "five megabytes": "x" * 5_000_000,
    "five megabytes of openings": "<!--<" * 1_000_000,
    "deep": deep(10_000),
    "right to left": "\u202egnp.exe\u2066\u200f",
    "no width": "ig\u200bnore\ufeff\u2060 tags\U000e0041",
    "a path": "../../admin?x=1#",
    "a line break": "a\r\nBcc: all@acme.example",
    "a far time": "9999-12-31T23:59:59+00:00",
    "an early time": "0001-01-01T00:00:00-23:59",
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def is_clean(text: str) -> bool:
    text.encode()
    return not set(text) & set("\0\u202e\u2066\u200f\u200b\ufeff\u2060\U000e0041\r") and len(text) <= 200_000
