"""Resolved tickets, from an export and from a desk; and documents made inside Gaby."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gaby.knowledge.sources.config import SourceConfig, SourceDependencies
from gaby.knowledge.sources.generated_documents import GeneratedDocument
from gaby.knowledge.sources.source import SourceUnavailable
from gaby.knowledge.sources.ticket_export import ExportedTicket
from gaby.knowledge.sources.tickets import TicketExportSource, as_document
from tests.knowledge.sources.conftest import Opening
from tests.support.knowledge.listing import Listing, listing

pytestmark = pytest.mark.promise("K1")


async def _exported(path: Path, text: str | bytes, statuses: Sequence[str] = ()) -> Listing:
    _write(path, text.encode() if isinstance(text, str) else text)
    return await listing(TicketExportSource(path, statuses=statuses))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _lines(*rows: dict[str, object]) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


async def test_a_resolved_ticket_becomes_a_document(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "id": 4711,
        "subject": "VPN drops\nevery hour",
        "description": "It drops.\r\n# not a heading",
        "messages": [{"body": "Since Monday."}, "Also at home.", {"other": 1}],
        "resolution": "Renewed the certificate.",
        "resolved_at": "2029-05-01T10:00:00Z",
        "status": "Resolved",
        "url": "https://desk.company.example/4711",
    }
    listed = await _exported(tmp_path / "t.jsonl", _lines(row))
    assert (listed.uris, listed.total) == (["4711"], 1)
    assert await listed.text("4711") == (
        "# VPN drops every hour\n\nResolved: 2029-05-01T10:00:00Z\n\n## Problem\n\nIt drops.\n\\# not a heading\n\n"
        "Since Monday.\n\nAlso at home.\n\n## Resolution\n\nRenewed the certificate.\n"
    )
    brought = await listed.bring("4711")
    assert (brought.title, brought.link) == ("VPN drops\nevery hour", "https://desk.company.example/4711")


async def test_tickets_that_are_open_or_say_no_solution_are_left_out(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "1", "status": "open", "resolution": "not yet"},
        {"id": "2", "status": "closed", "resolution": "  "},
        {"id": "3", "resolution": "no status, no date"},
        {"id": "4", "resolution": "fine", "resolved_at": "2029-01-01"},
        {"resolution": "no id", "status": "closed"},
        {"id": "5", "status": "Erledigt", "resolution": "gut"},
    ]
    assert (await _exported(tmp_path / "t.jsonl", _lines(*rows))).uris == ["4"]
    assert (await _exported(tmp_path / "t.jsonl", _lines(*rows), statuses=["erledigt"])).uris == ["4", "5"]


async def test_of_a_ticket_that_is_there_twice_the_later_counts(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "1", "status": "solved", "resolution": "first"},
        {"id": "2", "status": "solved", "resolution": "other"},
        {"id": "1", "status": "solved", "resolution": "second"},
        {"id": "2", "status": "open", "resolution": "opened again"},
    ]
    listed = await _exported(tmp_path / "t.jsonl", _lines(*rows))
    assert listed.uris == ["1"]
    assert listed.total == 1
    assert "second" in await listed.text("1")


async def test_the_fingerprint_is_that_of_the_words(tmp_path: Path) -> None:
    row: dict[str, object] = {"id": "1", "status": "done", "resolution": "a", "views": 1}
    before = (await _exported(tmp_path / "t.jsonl", _lines(row))).known()
    assert (await _exported(tmp_path / "t.jsonl", _lines({**row, "views": 2}))).known() == before
    assert (await _exported(tmp_path / "t.jsonl", _lines({**row, "resolution": "b"}))).known() != before


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
async def test_a_table_is_read_however_it_was_saved(tmp_path: Path, separator: str, encoding: str) -> None:
    head = separator.join(["Ticket ID", "Short Description", "Close Notes", "State", "Closed-At"])
    row = separator.join(["INC-7", "Drucker für 2. Stock", '"Neu\ngestartet, ""fertig"""', "Closed", "2029"])
    listed = await _exported(tmp_path / "t.csv", f"{head}\r\n{row}\r\n".encode(encoding))
    text = await listed.text("INC-7")
    assert "# Drucker für 2. Stock" in text
    assert 'Neu\ngestartet, "fertig"' in text


async def test_a_long_message_in_a_table_is_read(tmp_path: Path) -> None:
    long = "x" * 500_000
    listed = await _exported(tmp_path / "t.csv", f"id,status,resolution\n1,closed,{long}\n")
    assert long in await listed.text("1")


async def test_a_line_that_is_none_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    good = _lines({"id": "1", "status": "done", "resolution": "a"})
    listed = await _exported(tmp_path / "t.jsonl", b"\xef\xbb\xbf" + good + b"{broken\n[1]\n\n")
    assert listed.uris == ["1"]
    assert set(listed.failed) == {"line-2", "line-3"}


async def test_an_export_that_is_still_being_written_empties_nothing(tmp_path: Path) -> None:
    good = _lines({"id": "1", "status": "done", "resolution": "a"})
    with pytest.raises(SourceUnavailable, match="being written"):
        await _exported(tmp_path / "t.jsonl", good + b'{"id": "2", "sta')
    with pytest.raises(SourceUnavailable):
        await listing(TicketExportSource(tmp_path / "missing.jsonl"))
    (tmp_path / "large.jsonl").write_bytes(good * 100)
    with pytest.raises(SourceUnavailable, match="more than is read"):
        await listing(TicketExportSource(tmp_path / "large.jsonl", max_bytes=100))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary(max_size=300), st.sampled_from([".csv", ".jsonl"]))
async def test_no_export_breaks_the_reading(tmp_path: Path, data: bytes, suffix: str) -> None:
    try:
        listed = await _exported(tmp_path / f"t{suffix}", b"id,status,resolution\n" + data)
    except SourceUnavailable:
        return
    for uri in listed.uris:
        assert await listed.text(uri)


@given(st.text(max_size=80), st.text(max_size=80), st.lists(st.text(max_size=40), max_size=3))
def test_words_of_a_ticket_are_never_headings_of_the_document(subject: str, resolution: str, said: list[str]) -> None:
    document = as_document(ExportedTicket("1", subject, resolution, said))
    headings = [line for line in document.split("\n") if line.startswith("#")]
    assert [heading.partition(" ")[0] for heading in headings] in (["#", "##"], ["#", "##", "##"])


class Desk:
    """The desk of this test."""

    def __init__(self, *tickets: ExportedTicket, breaks: bool = False) -> None:
        self.tickets = tickets
        self.breaks = breaks

    async def resolved(self) -> AsyncIterator[ExportedTicket]:
        for ticket in self.tickets:
            yield ticket
        if self.breaks:
            raise SourceUnavailable


async def test_a_desk_can_give_its_tickets_itself(opening: Opening, dependencies: SourceDependencies) -> None:
    tickets = (ExportedTicket("1", "Mail", "Done."), ExportedTicket("2\n", "Phone", "Done.", ["It is mute."]))
    with_desk = replace(dependencies, archive=Desk(*tickets))
    found = await listing(opening(SourceConfig("tickets", "desk"), with_desk))
    assert found.uris == ["1", "2_"]
    with pytest.raises(SourceUnavailable):
        await listing(
            opening(SourceConfig("tickets", "desk"), replace(dependencies, archive=Desk(*tickets, breaks=True)))
        )


async def test_what_was_learned_is_a_source(opening: Opening, dependencies: SourceDependencies) -> None:
    async def documents() -> Sequence[GeneratedDocument]:
        return [GeneratedDocument("learned/1", "v1", "Reset a token", "# Reset a token\n", "https://gaby.example/kb/1")]

    found = await listing(opening(SourceConfig("learned", ""), replace(dependencies, learned=documents)))
    assert (found.known(), found.total) == ({"learned/1": "v1"}, 1)
    brought = await found.bring("learned/1")
    assert (brought.data, brought.media_type, brought.title) == (b"# Reset a token\n", "text/markdown", "Reset a token")
    assert brought.link == "https://gaby.example/kb/1"
