"""Rows: one form, one hash, and hostile bytes are either a row or `Malformed`."""

from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.audit.canonical import canonical
from gaby.audit.errors import Malformed, NotCanonical
from gaby.audit.rows import (
    FIRST_PREV_HASH,
    LogHead,
    RowDraft,
    chain,
    check_draft,
    is_timestamp,
    read_row,
    row_from,
    timestamp,
)
from tests.audit.logs import ACME, MemoryLog

pytestmark = pytest.mark.promise("A1")


def test_the_hash_is_over_the_previous_hash_and_the_canonical_row() -> None:
    log = MemoryLog()
    first, second = log.append(ACME), log.append(ACME)
    assert first.prev_hash == bytes(32)
    assert second.prev_hash == first.hash
    for row in (first, second):
        data = row.canonical()
        assert canonical(orjson.loads(data)) == data
        assert "hash" not in orjson.loads(data)
        assert row.hash == sha256(row.prev_hash + data).digest()


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=200))
def test_any_name_of_an_actor_is_hashed_as_it_is_written(name: str) -> None:
    draft = check_draft(RowDraft(ACME, "user", name, "sign_in.failed", '{"a":[1]}'))
    (row,) = chain([draft], {ACME: LogHead()}, now=timestamp(datetime.now(UTC)), first_id=UUID(int=7 << 76))
    assert read_row(row.canonical())["actor_id"] == name
    assert row.hash == sha256(FIRST_PREV_HASH + row.canonical()).digest()


def test_a_row_survives_being_written_and_read() -> None:
    row = MemoryLog().append(ACME, payload='{"a":{"b":null}}')
    assert row_from(read_row(row.canonical()), row.hash) == row


def test_time_never_goes_back_within_a_log() -> None:
    heads = {ACME: LogHead(seq=3, digest=bytes(32), ts="2031-01-01T00:00:00.000000Z")}
    draft = RowDraft(ACME, "agent", "planner", "tool.call", "{}")
    rows = chain([draft, draft], heads, now="2030-01-01T00:00:00.000000Z", first_id=UUID(int=1))
    assert [(row.seq, row.ts) for row in rows] == [
        (3, "2031-01-01T00:00:00.000000Z"),
        (4, "2031-01-01T00:00:00.000000Z"),
    ]
    assert rows[0].digits < rows[1].digits


def test_a_time_is_always_utc_with_six_digits() -> None:
    moment = datetime(2030, 1, 2, 5, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    assert timestamp(moment) == "2030-01-02T03:04:05.000000Z"
    assert is_timestamp(timestamp(moment))


@pytest.mark.parametrize(
    "text",
    ["2030-W01-1T00:00:00.000000Z", "2030-02-30T00:00:00.000000Z", "2030-01-01T24:00:00.000000Z", "2030-01-01", "", 5],
)
def test_other_times_are_noticed(text: object) -> None:
    assert not is_timestamp(text)


@pytest.mark.parametrize(
    ("actor", "event"),
    [
        ("", "a.b"),
        ("a\x00b", "a.b"),
        ("x" * 201, "a.b"),
        ("ann", "A.b"),
        ("ann", "a..b"),
        ("ann", "a" * 101),
        ("ann", ""),
    ],
)
def test_names_that_could_not_be_told_apart_are_refused(actor: str, event: str) -> None:
    with pytest.raises(NotCanonical):
        check_draft(RowDraft(ACME, "user", actor, event, "{}"))


def _changed(**changes: Any) -> bytes:
    return canonical(read_row(MemoryLog().append(ACME).canonical()) | changes)


@pytest.mark.parametrize(
    "data",
    [
        _changed(seq=True),
        _changed(seq=-1),
        _changed(seq=2**62),
        _changed(seq=1.0),
        _changed(payload=[]),
        _changed(ts="2030"),
        _changed(ts=None),
        _changed(id="x"),
        _changed(id=5),
        _changed(workspace_id="ACE"),
        _changed(prev_hash="00"),
        _changed(actor_kind="robot"),
        _changed(actor_kind=[]),
        _changed(actor_id=7),
        _changed(event="No"),
        _changed(event={}),
        _changed(extra=1),
        b"[]",
        b"null",
        canonical(["actor_id", "actor_kind", "event", "id", "payload", "prev_hash", "seq", "ts", "workspace_id"]),
        b'{"a":1,"a":1}',
        b"[" * 100_000,
    ],
)
def test_a_row_of_the_wrong_form_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        read_row(data)


@given(st.binary(max_size=300))
def test_random_bytes_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        read_row(data)
