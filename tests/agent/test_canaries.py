"""Canaries: secrets and personal values of a ticket and of a system's answers turn up nowhere in clear."""

import io
import logging
from pathlib import Path

import pytest
from evals.chat_server import ChatServer

from gaby.app import Gaby
from gaby.tickets.canonical_ticket import IncomingTicket
from tests.agent.scenes import Office, open_office
from tests.agent.test_message_gate import Model, use_model
from tests.support.database_dump import everything_stored

pytestmark = [pytest.mark.parametrize("database_url", ["sqlite"], indirect=True), pytest.mark.promise("S5", "T1")]

CARD, SECRET, PHONE = "4242 4242 4242 4242", "tr0ub4dor-and-3-more", "+49 30 90182033"
IBAN, CODE, TOKEN = "DE89 3704 0044 0532 0130 00", "482913", "".join(("gh", "p_", "a1B2" * 9))
CANARIES = (CARD, SECRET, PHONE, IBAN, TOKEN)
TICKET = IncomingTicket(
    external_id="T-9",
    title="Locked out, and my card",
    body=(
        f"I am locked out. My password is {SECRET} and the card {CARD}. Call me at {PHONE}.\n"
        f"My account is {IBAN}. Your code is {CODE}. token={TOKEN}"
    ),
    requester_email="nora.lindqvist@brightbakery.example",
    requester_verified=True,
)


@pytest.fixture
async def office(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path)


async def test_what_a_ticket_holds_reaches_no_model_no_log_and_no_table_in_clear(office: Office) -> None:
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    steps = [
        [("company.search_users", {"query": "nora.lindqvist@brightbakery.example"})],
        [("company.list_logins", {"user_id": "usr_001", "only_failed": True})],
    ]
    model = Model(steps, "Your account is fine. [s1]")
    try:
        with ChatServer(model.answer) as server:
            await use_model(office, server.url, "plan", "triage", "review")
            ticket_id = await office.receive(TICKET)
            await office.work()
    finally:
        logging.getLogger().removeHandler(handler)
    assert len(model.prompts) >= 3
    seen = {"prompts": "\n".join(model.prompts), "logs": heard.getvalue()}
    stored = await everything_stored(office.gaby)
    for canary in (*CANARIES, canary_digits(CARD), canary_digits(IBAN)):
        for place, text in seen.items():
            assert canary not in text, (canary, place)
        assert canary.encode() not in stored, (canary, "a table or the database's file")
    assert "nora.lindqvist@" not in seen["prompts"]
    assert f"code is {CODE}" not in seen["prompts"]
    # The same values are there for whoever may open the ticket.
    async with office.gaby.database.read(office.workspace_id) as session:
        ticket = await office.gaby.tickets.intake.get(session, ticket_id)
        written = await office.gaby.tickets.intake.written(session, ticket)
    assert all(canary in written.body for canary in CANARIES)


def canary_digits(value: str) -> str:
    return value.replace(" ", "")
