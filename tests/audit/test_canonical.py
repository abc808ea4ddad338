"""Canonical JSON: equal values have equal bytes, and what JSON cannot say is refused."""

import math
from enum import StrEnum
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.audit.canonical import canonical, canonical_payload
from gaby.audit.errors import NotCanonical, PayloadTooLarge
from gaby.kernel.events import PersonalValue

pytestmark = pytest.mark.promise("A1")

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=10,
)


class Colour(StrEnum):
    RED = "red"


def test_keys_are_sorted_and_nothing_is_wasted() -> None:
    assert canonical({"b": [1, 2.5, None], "a": "ü", "é": True}) == '{"a":"ü","b":[1,2.5,null],"é":true}'.encode()


def test_ids_and_enums_are_written_as_their_value() -> None:
    assert canonical([UUID(int=1), Colour.RED]) == b'["00000000-0000-0000-0000-000000000001","red"]'


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        [None, {"deep": math.inf}],
        {"x": -math.inf, "y": None},
        {1: "a"},
        "\ud800",
        {"\udfff": 1},
        2**64,
        -(2**63) - 1,
        b"bytes",
        {1, 2},
        PersonalValue("person:1", "Ann"),
    ],
)
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)


def test_a_payload_deeper_than_every_reader_accepts_is_refused() -> None:
    deep: Any = 1
    for _ in range(240):
        deep = [deep]
    assert canonical_payload({"deep": deep}).startswith('{"deep":[[')
    for _ in range(12):
        deep = [deep]
    with pytest.raises(NotCanonical):
        canonical_payload({"deep": deep})


def test_a_payload_over_a_megabyte_is_refused() -> None:
    with pytest.raises(PayloadTooLarge):
        canonical_payload({"text": "x" * 1_000_001})


@given(JSON)
def test_what_is_written_is_canonical(value: Any) -> None:
    data = canonical(value)
    assert canonical(orjson.loads(data)) == data


@given(st.dictionaries(TEXT, JSON, min_size=2, max_size=6))
def test_the_order_in_which_a_dict_was_filled_does_not_matter(value: dict[str, Any]) -> None:
    assert canonical(value) == canonical(dict(reversed(value.items())))
