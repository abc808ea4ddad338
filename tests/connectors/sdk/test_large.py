"""Large results are cut to 100 KB by leaving rows out, never in the middle of the JSON."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby_connectors.sdk.truncation import CUT, LIMIT, fit, size
from tests.connectors.sdk.toy import ToyConfig, connector
from tests.connectors.talk import talking

pytestmark = pytest.mark.promise("M5")


@pytest.fixture
def config(tmp_path: Path) -> ToyConfig:
    return ToyConfig(effects=tmp_path / "effects")


async def test_a_small_result_is_given_as_it_is(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        assert await talk.ask("rows", count=2, width=6) == {"title": "many", "rows": ["000000", "000001"], "note": ""}


async def test_rows_are_left_out_and_it_is_said_how_many(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        result = await talk.ask("rows", count=5000)
        kept = len(result["rows"])
        assert 900 < kept < 1000
        assert result["rows"][-1].startswith(f"{kept - 1:06}")
        assert result["truncated"] is True
        assert result["more"] == f"Left out: {5000 - kept} of 5000 in `rows`. Ask for fewer."
        assert size(result) <= LIMIT


async def test_one_row_that_is_too_large_is_shown_in_part(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        result = await talk.ask("rows", count=2, width=200_000)
        assert len(result["rows"]) == 1
        assert result["rows"][0].endswith(CUT)
        assert result["truncated"] is True


async def test_a_long_text_is_cut_between_characters(config: ToyConfig) -> None:
    async with talking(connector, config) as talk:
        result = await talk.ask("rows", count=1, width=10, note=90_000)
        assert result["note"].endswith(f"é{CUT}")
        assert result["rows"] == ["000000xxxx"]


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner, max_size=8),
    max_leaves=40,
)


@given(st.dictionaries(st.text(max_size=8), values, max_size=8))
def test_whatever_is_given_the_result_is_json_and_fits(result: dict[str, Any]) -> None:
    limit = 4000
    smaller = fit(result, "Ask for less.", limit)
    assert orjson.loads(orjson.dumps(smaller)) == smaller
    if size(result) <= limit:
        assert smaller == result
    else:
        assert smaller["truncated"] is True
        assert size(smaller) <= limit
