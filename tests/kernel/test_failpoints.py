"""Failpoints fire exactly where and when they are told to, and cost nothing otherwise."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.errors import Misconfigured
from gaby.kernel.failpoints import (
    FailpointAction,
    FailpointError,
    FailpointVerb,
    configure,
    failpoint,
    failpoint_async,
    parse,
)

pytestmark = pytest.mark.promise("X4")


@pytest.fixture(autouse=True)
def disarm() -> Iterator[None]:
    yield
    configure(None)


def test_nothing_happens_unless_configured() -> None:
    failpoint("anything")


def test_error_fails_every_time() -> None:
    configure("here=error")
    failpoint("elsewhere")
    for _ in range(3):
        with pytest.raises(FailpointError, match="here"):
            failpoint("here")


def test_error_star_fails_only_the_first_hits() -> None:
    configure("here=error*2")
    for _ in range(2):
        with pytest.raises(FailpointError):
            failpoint("here")
    failpoint("here")


async def test_error_at_fails_only_that_hit() -> None:
    configure("here=error@3")
    await failpoint_async("here")
    failpoint("here")
    with pytest.raises(FailpointError):
        await failpoint_async("here")
    failpoint("here")


def test_delay_waits() -> None:
    configure("here=delay:0.05*1")
    start = time.monotonic()
    failpoint("here")
    assert time.monotonic() - start >= 0.05


async def test_an_async_delay_leaves_the_loop_free() -> None:
    configure("here=delay:0.05")
    order: list[str] = []

    async def slow() -> None:
        await failpoint_async("here")
        order.append("slow")

    async def quick() -> None:
        order.append("quick")

    await asyncio.gather(slow(), quick())
    assert order == ["quick", "slow"]


def test_kill_ends_the_process_at_the_hit_named_and_the_record_survives(tmp_path: Path) -> None:
    record = tmp_path / "names"
    program = f"""
from gaby.kernel.failpoints import configure, failpoint
configure("here=kill@2,record:{record}")
for _ in range(3):
    failpoint("before")
    failpoint("here")
    print("alive", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert done.stdout == "alive\n"
    assert record.read_text().splitlines() == ["before", "here"]


def test_recording_lists_each_name_once(tmp_path: Path) -> None:
    record = tmp_path / "names"
    configure(f"record:{record}")
    for name in ("a", "b", "a"):
        failpoint(name)
    assert record.read_text().splitlines() == ["a", "b"]


def test_a_record_that_cannot_be_written_is_told_at_start(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"cannot record to .*missing"):
        configure(f"record:{tmp_path / 'missing' / 'names'}")


def test_a_bad_spec_leaves_the_armed_one_alone() -> None:
    configure("here=error")
    with pytest.raises(Misconfigured):
        configure("here=explode")
    with pytest.raises(FailpointError):
        failpoint("here")


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("here", "asks for ''"),
        ("here=", "asks for ''"),
        ("here=explode", "asks for 'explode'"),
        ("here=delay", "asks for 'delay'"),
        ("here=delay:soon", "asks for 'delay:soon'"),
        ("here=kill:5", "asks for 'kill:5'"),
        ("here=error*0", r"asks for 'error\*0'"),
        ("here=error@-1", "asks for 'error@-1'"),
        ("here=error*1@2", r"asks for 'error\*1@2'"),
        ("=error", "no usable name"),
        ("two words=error", "no usable name"),
        ("here=error,here=kill", "twice"),
        ("record:", "without a path"),
        ("record:/a,record:/b", "twice"),
    ],
)
def test_a_malformed_spec_says_what_is_wrong_and_what_is_allowed(spec: str, complaint: str) -> None:
    with pytest.raises(Misconfigured, match=complaint) as caught:
        parse(spec)
    assert "Allowed:" in str(caught.value)


@given(st.text())
def test_any_text_parses_or_is_refused_in_our_own_words(spec: str) -> None:
    with suppress(Misconfigured):
        parse(spec)


_names = st.from_regex(r"[A-Za-z0-9_.-]{1,100}", fullmatch=True)
_counts = st.one_of(st.none(), st.integers(1, 10**8))


@given(
    st.dictionaries(
        _names, st.tuples(st.sampled_from(["kill", "error", "delay:2.5"]), st.sampled_from(["*", "@"]), _counts)
    )
)
def test_what_is_written_is_what_is_read(wanted: dict[str, tuple[str, str, int | None]]) -> None:
    spec = ",".join(f"{name}={verb}{f'{sign}{n}' if n else ''}" for name, (verb, sign, n) in wanted.items())
    assert parse(spec).actions == {
        name: FailpointAction(
            FailpointVerb(verb.split(":")[0]),
            2.5 if ":" in verb else 0.0,
            first=n if sign == "*" else None,
            only=n if sign == "@" else None,
        )
        for name, (verb, sign, n) in wanted.items()
    }
