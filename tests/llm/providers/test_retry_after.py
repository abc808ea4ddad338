"""When to ask again, by clocks that may be wrong."""

from datetime import timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.providers.retry_after import LONGEST_WAIT, retry_after
from tests.llm.providers.desk import NOW


def at(seconds: float) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "5"}, 5.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "3600"}, LONGEST_WAIT),
        ({"retry-after": "90000"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": at(30)}, 30.0),
        ({"retry-after": at(-30)}, None),
        ({"retry-after": at(10**7)}, None),
        ({"retry-after": "Wed, 99 Foo 2030"}, None),
    ],
)
def test_a_sensible_wait_is_kept(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after(headers, now=NOW) == wait


@pytest.mark.parametrize("skew", [-86_400.0, -600.0, 0.0, 600.0, 10**8])
def test_a_provider_whose_clock_is_wrong_is_measured_by_its_own(skew: float) -> None:
    assert retry_after({"retry-after": at(skew + 20), "date": at(skew)}, now=NOW) == 20.0


dates = st.text(max_size=30) | st.floats(-1e9, 1e9).map(at) | st.integers().map(str) | st.floats().map(str)


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date"]), dates))
def test_no_header_can_make_us_wait_for_long_or_less_than_nothing(headers: dict[str, str]) -> None:
    wait = retry_after(headers, now=NOW)
    assert wait is None or 0 <= wait <= LONGEST_WAIT
