"""How an investigation that follows a runbook ends after a change: settled by it, or handed over with what was done."""

from dataclasses import replace
from pathlib import Path

import pytest

from gaby.knowledge.new_source import NewSource
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tickets.models import TicketMessage
from tests.agent.scenes import LOCKED_OUT, Office

pytestmark = [
    pytest.mark.promise("L15", "L12"),
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
]

GATE = """---
runbook: true
symptoms: [the gate stays shut, das Tor bleibt zu]
---
# The gate stays shut

For people for whom the gate stays shut.

1. Find the requester with `search_users`, `query`: the requester's e-mail address.

If the user's `locked_at` is set: The account is locked.
- Do `unlock_user`.
- Then tell the requester: Your account is open again.
"""
SHUT = replace(LOCKED_OUT, title="The gate stays shut", body="Since this morning the gate stays shut for me.")


async def _ended(
    office: Office, folder: Path, runbook: str, ticket: IncomingTicket = SHUT
) -> tuple[str | None, str, list[TicketMessage]]:
    """The verdict, the reason, and all that was written on the ticket."""
    (folder / "runbooks").mkdir()
    (folder / "runbooks" / "gate.md").write_text(runbook)
    knowledge = office.gaby.knowledge.components
    async with office.gaby.database.write(office.workspace_id) as session:
        new = NewSource("gates", "folder", str(folder / "runbooks"), audience="staff")
        source = await knowledge.sources.add(session, office.actor, new)
    await knowledge.syncer.sync(office.actor, source.id)
    ticket_id = await office.receive(ticket)
    await office.work()
    async with office.gaby.database.read(office.workspace_id) as session:
        written = await office.gaby.tickets.intake.messages(session, ticket_id)
    run = await office.run_of(ticket_id)
    return run.verdict, run.reason or "", list(written)


async def _calls(office: Office) -> list[str]:
    return [payload["tool"] for payload in await office.audit("tool.call.intent")]


async def test_a_change_that_settles_it_is_not_looked_at_again(office: Office, tmp_path: Path) -> None:
    verdict, reason, (reply,) = await _ended(office, tmp_path, f"{GATE}- That settles it.\n")
    assert (verdict, reason) == ("auto_resolved", "company.unlock_user was done, which settles it.")
    assert (await _calls(office))[-1] == "company.unlock_user"
    assert not reply.private
    assert "Your account is open again." in reply.body


async def test_without_that_sentence_whatever_showed_the_trouble_is_read_again(office: Office, tmp_path: Path) -> None:
    verdict, reason, _ = await _ended(office, tmp_path, GATE)
    assert (verdict, reason.endswith("a second look shows that the trouble is gone.")) == ("auto_resolved", True)
    assert (await _calls(office))[-1] == "company.search_users"


async def test_a_hand_over_behind_a_change_tells_colleagues_and_what_was_changed(
    office: Office, tmp_path: Path
) -> None:
    verdict, reason, written = await _ended(office, tmp_path, f"{GATE}- Hand it to the access team.\n")
    assert (verdict, reason) == ("needs_tech", "Hand it to the access team.")
    assert "company.unlock_user" in await _calls(office)
    [reply] = [each for each in written if not each.private]
    assert "Your account is open again." in reply.body
    assert "It goes to the access team." in reply.body
    assert [each for each in written if each.private]


async def test_a_symptom_in_german_is_diagnosed_for_a_person_and_nothing_is_changed(
    office: Office, tmp_path: Path
) -> None:
    body = "Guten Morgen, das Tor bleibt zu, und ich kann seit heute früh nicht mehr arbeiten. Bitte helfen Sie mir."
    text = GATE.replace("- Then", "- Tell the requester: Your account was locked at `locked_at`.\n- Then")
    verdict, reason, written = await _ended(office, tmp_path, text, replace(SHUT, title="Frage zum Tor", body=body))
    assert (verdict, "written in German" in reason) == ("needs_tech", True)
    assert "company.unlock_user" not in await _calls(office)
    [acknowledged] = [each.body for each in written if not each.private]
    assert "locked" not in acknowledged
    [note] = [each.body for each in written if each.private]
    assert "The account is locked." in note
    assert "`company.unlock_user` (user_id: " in note
    assert "Your account was locked at" in note.partition("What the requester can be told:")[2]
