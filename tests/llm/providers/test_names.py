"""Names of tools in the vendors' alphabet: each name its own, and always the same."""

import re

from hypothesis import given
from hypothesis import strategies as st

from gaby.llm.providers.names import vendor_id, vendor_name

VENDORS = re.compile(r"[a-zA-Z0-9_-]{1,64}")
names = st.text(st.sampled_from("ab_.-/ é\ud800"), max_size=12) | st.text(max_size=200)


def test_names_stay_readable() -> None:
    assert vendor_name("directory.find_user") == "directory__find_user"
    assert vendor_name("find_user") == "find_user"
    assert vendor_name("http-openapi.get-items") == "http-openapi__get-items"


@given(names)
def test_every_name_fits_every_vendor(name: str) -> None:
    assert VENDORS.fullmatch(vendor_name(name))
    assert vendor_name(name) == vendor_name(name)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", vendor_id(name))


@given(st.lists(names, unique=True, max_size=30))
def test_no_two_names_become_one(several: list[str]) -> None:
    assert len({vendor_name(name) for name in several}) == len(several)
    assert len({vendor_id(name) for name in several}) == len(several)


def test_names_that_look_alike_stay_apart() -> None:
    alike = ["a.b", "a__b", "a._b", "a_.b", "a___b", "a..b", "a____b", "_a.b", "a/b", "a b"]
    assert len({vendor_name(name) for name in alike}) == len(alike)


@given(names)
def test_no_name_can_be_chosen_to_be_taken_for_another(name: str) -> None:
    """Not even the vendor's name of another tool."""
    other = vendor_name(name)
    if other != name:
        assert vendor_name(other) != other
