"""With a model its work stands: reviewed once more, sent back once, and nothing told that no source carries."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evals.chat_server import ChatAnswer, ChatServer

from gaby.agent.replies import acknowledgement
from gaby.agent.run_loader import load
from gaby.app import Gaby
from gaby.kernel.ids import TicketId
from gaby.tickets.canonical_ticket import IncomingMessage
from tests.agent.scenes import LOCKED_OUT, Office, open_office
from tests.agent.test_message_gate import public_texts, use_model

pytestmark = [
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),
    pytest.mark.promise("L12", "G10", "K5"),
]

ASKS = replace(LOCKED_OUT, title="How long is an account locked?", body="Wie lange bleibt ein Konto gesperrt?")
REPLY = "Guten Tag,\n\n- Das Konto bleibt eine Stunde gesperrt [p1].\n- Danach geht es von selbst [p1].\n\nViele Grüße"


class Seat:
    """A planner that says what it is told to, and a reviewer that doubts what it is told to doubt."""

    def __init__(self, *conclusions: dict[str, Any], doubts: tuple[str, ...] = (), complete: bool = True) -> None:
        self.conclusions = list(conclusions)
        self.steps: list[list[tuple[str, dict[str, Any]]]] = []
        self.doubts, self.complete = doubts, complete
        self.plans: list[Mapping[str, Any]] = []
        self.reviews: list[str] = []

    def answer(self, asked: Mapping[str, Any]) -> ChatAnswer:
        if not asked.get("tools"):
            return self._review(asked["messages"][-1]["content"])
        self.plans.append(asked)
        if self.steps:
            return ChatAnswer("Looking.", self.steps.pop(0))
        end = self.conclusions.pop(0) if len(self.conclusions) > 1 else self.conclusions[0]
        return ChatAnswer("", [("conclude", {"verdict": "auto_resolved", "why": "Answered.", **end})])

    def _review(self, prompt: str) -> ChatAnswer:
        self.reviews.append(prompt)
        parts = prompt.split("Sentence ")[1:]
        sentences: list[dict[str, Any]] = []
        for part in parts:
            doubted = any(doubt in part for doubt in self.doubts)
            said = {"support": "unsupported", "why": "The page says an hour."} if doubted else {"support": "supported"}
            sentences.append({"number": int(part.split(",")[0]), "why": "", **said})
        complete = self.complete and "The verdict: auto_resolved" in prompt
        return ChatAnswer(json.dumps({"sentences": sentences, "complete": complete, "why": "One thing is open."}))


@pytest.fixture
async def office(gaby: Gaby, tmp_path: Path) -> Office:
    return await open_office(gaby, tmp_path)


async def played(office: Office, seat: Seat, *skills: str) -> TicketId:
    with ChatServer(seat.answer) as server:
        await use_model(office, server.url, *(skills or ("plan", "review")))
        ticket_id = await office.receive(ASKS)
        await office.work()
    return ticket_id


async def test_a_reply_is_sent_as_the_model_wrote_it(office: Office) -> None:
    ticket_id = await played(office, seat := Seat({"reply": REPLY}))
    [sent] = await public_texts(office, ticket_id)
    assert sent.startswith("Guten Tag,\n\n- Das Konto bleibt eine Stunde gesperrt")
    assert "Viele Grüße" in sent
    assert "As far as we can see" not in sent
    assert (await office.run_of(ticket_id)).verdict == "auto_resolved"
    assert (len(seat.plans), len(seat.reviews)) == (1, 1), "the knowledge was searched without asking a model"


async def test_doubts_go_back_once_and_no_doubt_is_printed(office: Office) -> None:
    wrong = {"reply": "Das Konto bleibt zwei Stunden gesperrt [p1]."}
    ticket_id = await played(office, seat := Seat(wrong, {"reply": REPLY}, doubts=("zwei Stunden",)))
    [sent] = await public_texts(office, ticket_id)
    assert "eine Stunde" in sent
    assert "zwei" not in sent
    assert "confirm" not in sent
    told = json.dumps(seat.plans[-1]["messages"], ensure_ascii=False)
    assert "zwei Stunden gesperrt.: The page says an hour." in told
    assert (len(seat.plans), len(seat.reviews)) == (2, 2)


async def test_what_no_source_carries_is_left_out(office: Office) -> None:
    both = {"reply": "Das Konto bleibt eine Stunde gesperrt [p1]. Ein Anruf kostet 5 Euro [p1]."}
    ticket_id = await played(office, Seat(both, doubts=("5 Euro",)))
    [sent] = await public_texts(office, ticket_id)
    assert "eine Stunde" in sent
    assert "5 Euro" not in sent


@pytest.mark.parametrize(
    ("end", "doubts", "complete"),
    [
        ({"reply": "Ein Anruf kostet 5 Euro [p1]."}, ("5 Euro",), True),
        ({"reply": REPLY}, (), False),
        ({"reply": "Ein Anruf kostet 5 Euro [p1].", "verdict": "needs_client", "question": "Wer?"}, ("5 Euro",), True),
    ],
    ids=["nothing left", "not complete", "nothing left beside a question"],
)
async def test_what_does_not_answer_goes_to_a_person(
    office: Office, end: dict[str, Any], doubts: tuple[str, ...], complete: bool
) -> None:
    ticket_id = await played(office, Seat(end, doubts=doubts, complete=complete))
    run = await office.run_of(ticket_id)
    public = "\n".join(await public_texts(office, ticket_id))
    assert "5 Euro" not in public
    assert run.verdict == ("needs_client" if end.get("question") else "needs_tech")


BAD: list[dict[str, Any]] = [
    {"reply": "As far as we can see this is resolved."},
    {"reply": "All is well [p99]."},
    {"reply": "All is well [doc:handbook/made-up.md#L1-L2]."},
    {"reply": ""},
    {"reply": "x" * 7000},
    {"reply": REPLY, "verdict": "solved"},
]


@pytest.mark.promise("G8")
@pytest.mark.parametrize("end", BAD, ids=["no source", "made-up source", "made-up token", "empty", "flood", "almost"])
async def test_a_bad_model_resolves_nothing_by_its_words(office: Office, end: dict[str, Any]) -> None:
    ticket_id = await played(office, Seat(end))
    for text in await public_texts(office, ticket_id):
        assert "All is well" not in text
        assert "xxxx" not in text
    run = await office.run_of(ticket_id)
    assert run.state == "done"
    async with office.gaby.database.read(office.workspace_id) as session:
        memory = (await load(session, office.gaby.vault, run)).memory
    assert memory.written_by in {None, "offline"}


@pytest.mark.promise("G8")
async def test_a_model_that_goes_round_in_circles_comes_to_an_end(office: Office) -> None:
    seat = Seat({"verdict": "needs_tech", "reply": "A colleague looks at it."})
    seat.steps = [[("company.search_users", {"query": f"nobody-{number}"})] for number in range(200)]
    ticket_id = await played(office, seat)
    run = await office.run_of(ticket_id)
    assert run.state == "done"
    assert run.verdict not in {"auto_resolved", "needs_client"}


async def test_without_a_reviewer_nobody_is_told_what_only_its_author_has_seen(office: Office) -> None:
    ticket_id = await played(office, Seat({"reply": REPLY}), "plan")
    assert await public_texts(office, ticket_id) == [acknowledgement()]
    assert (await office.run_of(ticket_id)).verdict == "needs_tech"


@pytest.mark.promise("L14")
async def test_a_follow_up_hears_who_said_what_and_the_first_reply_is_said_once(office: Office) -> None:
    seat = Seat({"verdict": "needs_tech", "reply": ""})
    with ChatServer(seat.answer) as server:
        await use_model(office, server.url, "plan", "review")
        ticket_id = await office.receive(ASKS)
        await office.work()
        async with office.gaby.database.write(office.workspace_id) as session:
            ticket = await office.gaby.tickets.intake.get(session, ticket_id)
            more = IncomingMessage("m-1", "requester", "Und wie lange bei Kollegen?")
            await office.gaby.tickets.intake.add_message(session, office.actor, ticket, more)
        await office.work()
    told = json.dumps(seat.plans[-1]["messages"], ensure_ascii=False)
    assert "From you:" in told
    assert "From the requester:" in told
    assert "Und wie lange bei Kollegen?" in told
    assert await public_texts(office, ticket_id) == [acknowledgement()]


async def test_searches_and_calls_of_one_step_are_all_made(office: Office) -> None:
    seat = Seat({"verdict": "needs_tech", "reply": ""})
    own = ("company.search_users", {"query": LOCKED_OUT.requester_email})
    seat.steps = [[("search_knowledge", {"queries": ["billing"]}), own]]
    await played(office, seat)
    last = seat.plans[-1]["messages"]
    called = [use["function"]["name"] for message in last for use in message.get("tool_calls", [])]
    assert called == ["search_knowledge", "company__search_users"]
    answers = [message["content"] for message in last if message["role"] == "tool"]
    assert len(answers) == 2
    assert "[c1] Done." in answers[1]
    assert last[2]["content"] == "Looking.", "its reasons are shown to it again"


@pytest.mark.promise("L5")
async def test_before_the_budget_is_gone_the_planner_is_told_to_conclude(office: Office) -> None:
    async with office.gaby.database.write(office.workspace_id) as session:
        await office.gaby.agent.personas.change(session, office.actor, {"iterations": 3})
    seat = Seat({"verdict": "needs_tech", "reply": "A colleague looks at it."})
    seat.steps = [[("company.search_users", {"query": f"nobody-{number}"})] for number in range(2)]
    ticket_id = await played(office, seat)
    assert "This is the last round" in seat.plans[-1]["messages"][-1]["content"]
    assert (await office.run_of(ticket_id)).verdict == "needs_tech"
