"""The tail for a SIEM: every row at least once, in order per workspace, across restarts of either side."""

import asyncio
import json
import re
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from gaby.audit import AuditLog, CursorFile, Malformed, TailCursor, WebhookSink, follow, json_line, syslog_line
from gaby.audit.rows import AuditRow
from gaby.audit.tail import BATCH, START, rows_after
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.database import Database
from tests.audit.logs import ACME, BYTE, MemoryLog
from tests.support.receiver import receiving

pytestmark = pytest.mark.promise("A5")

ACTOR = system_actor("test")


async def _fill(audit: AuditLog, count: int) -> None:
    await asyncio.gather(*(audit.append(ACME if n % 2 else BYTE, ACTOR, "test.row", {"n": n}) for n in range(count)))


async def test_following_gives_every_row_in_order_and_then_waits_for_more(db: Database, audit: AuditLog) -> None:
    await _fill(audit, BATCH + 100)
    seen: list[AuditRow] = []
    kept = START
    async for rows, cursor in follow(db, poll=0.01):
        seen += rows
        kept = cursor
        if len(seen) == BATCH + 100:
            await audit.append(ACME, ACTOR, "test.late", {})
        if seen[-1].event == "test.late":
            break
    for workspace in (ACME, BYTE):
        mine = [row.seq for row in seen if row.workspace_id == workspace]
        assert mine == list(range(len(mine)))
    assert len({row.id for row in seen}) == BATCH + 101
    assert rows_after(db, kept) == []
    assert rows_after(db, START, only=BYTE)[0].workspace_id == BYTE


async def test_the_webhook_gets_everything_although_it_fails_and_we_restart(
    db: Database, audit: AuditLog, tmp_path: Path
) -> None:
    await _fill(audit, 30)
    with receiving(503, 200, 200) as siem:
        async with httpx2.AsyncClient() as client:
            for _ in range(2):
                cursor_file = CursorFile(tmp_path / "cursor.json")
                sink = WebhookSink(siem.url, client, cursor_file, first_wait=0.01)
                with suppress(TimeoutError):
                    await asyncio.wait_for(sink.run(db, poll=0.01), 1)
                await audit.append(ACME, ACTOR, "test.more", {})
    received = [json.loads(line)["id"] for body in siem.accepted for line in body.splitlines()]
    assert len(received) == len(set(received)) == 31


def test_a_cursor_survives_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    file = CursorFile(tmp_path / "cursor.json")
    assert file.load() == START
    file.save(TailCursor({ACME: 5}))
    assert file.load() == TailCursor({ACME: 5})
    for damage in (b"", b"[]", b'{"x":1}', b'{"00000000-0000-0000-0000-000000000ace":-1}'):
        (tmp_path / "cursor.json").write_bytes(damage)
        with pytest.raises(Malformed):
            file.load()


def test_a_json_line_is_the_row_with_its_hash() -> None:
    row = MemoryLog().append(ACME, payload='{"text":"ü"}')
    line = json_line(row)
    assert line.endswith(b"}\n")
    value = json.loads(line)
    assert value["hash"] == row.hash.hex()
    assert value["payload"] == {"text": "ü"}
    assert value["id"] == str(row.id)


def test_a_syslog_line_is_as_rfc_5424_wants_it() -> None:
    row = MemoryLog().append(ACME)._replace(actor_id='a"b]c\\d', event="a" * 40)
    line = syslog_line(row, host="gaby host")
    assert line.startswith(f'<110>1 {row.ts} gaby?host gaby - {"a" * 32} [gaby@32473 id="{row.id}" ')
    assert 'actor="agent:a\\"b\\]c\\\\d"' in line
    assert line.endswith(f"] \ufeff{row.payload}")
    assert re.fullmatch(r"<\d+>1 \S+ \S+ \S+ \S+ \S+ \[.*\] \ufeff\{.*\}", line)
    assert "\n" not in line


def test_nothing_in_a_row_can_break_out_of_its_syslog_line() -> None:
    actor = Actor(kind="user", id='x"] evil [y z="1', workspace_id=ACME)
    row = MemoryLog().append(ACME)._replace(actor_id=actor.id)
    assert syslog_line(row).count('"] ') == 1
