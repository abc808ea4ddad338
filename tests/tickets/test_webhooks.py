"""Deliveries over HTTP: taken when signed, fresh and new. Whatever else comes is answered alike and leaves no trace."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx2
import orjson
import pytest

from gaby.kernel import failpoints
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import DeskId
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.models import Ticket
from tests.agent.scenes import Office
from tests.support.app_client import World
from tests.support.database_dump import requested_rows, row_counts
from tests.support.desks.github import REPOSITORY, TOKEN, ScriptedGitHub, delivered, scripted_github
from tests.support.seeded_random import Dice

pytestmark = pytest.mark.promise("T4")
SECRET = "a secret of the hook"
one_engine = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def vendor() -> Generator[ScriptedGitHub]:
    with scripted_github() as github:
        yield github


@dataclass
class Hook:
    """GitHub on one side, Gaby's address for its deliveries on the other."""

    place: Office
    vendor: ScriptedGitHub
    client: httpx2.AsyncClient
    desk_id: DeskId
    clock: ManualClock

    async def connect(self, name: str, kind: str, values: dict[str, Any]) -> DeskId:
        place = self.place
        async with place.gaby.database.write(place.workspace_id) as session:
            return (await place.gaby.tickets.desks.add(session, place.actor, NewDesk(name, kind, values))).typed_id

    def event(self, number: int, **more: Any) -> bytes:
        repository = {"full_name": REPOSITORY}
        return orjson.dumps({"action": "edited", "issue": self.vendor.issues[number], "repository": repository, **more})

    async def deliver(self, body: bytes, *, secret: str = SECRET, desk_id: object = None, **headers: str) -> Any:
        path = f"/api/webhooks/desks/{desk_id or self.desk_id}"
        signed = {**delivered(secret, body), **{name.replace("_", "-"): value for name, value in headers.items()}}
        return await self.client.post(path, content=body, headers=signed)

    async def poll(self) -> None:
        await self.place.gaby.tickets.receiver.poll(self.place.workspace_id, self.desk_id)

    async def tickets(self) -> list[Ticket]:
        async with self.place.gaby.database.read(self.place.workspace_id) as session:
            return list(await self.place.gaby.tickets.list(session))


@pytest.fixture
async def hook(place: Office, vendor: ScriptedGitHub, clock: ManualClock, world: World) -> AsyncGenerator[Hook]:
    vendor.now = clock.now()
    async with world.client() as client:
        made = Hook(place, vendor, client, DeskId(uuid4()), clock)
        settings = {
            "repositories": [REPOSITORY],
            "token": TOKEN,
            "api_url": vendor.url,
            "webhook_secret": SECRET,
            "since": "2030-01-01T00:00:00Z",
        }
        made.desk_id = await made.connect("github", "github", settings)
        yield made


async def test_a_signed_delivery_is_accepted_and_queued(hook: Hook) -> None:
    number = hook.vendor.open_issue("Login fails", "It says 500.")
    answer = await hook.deliver(hook.event(number))

    assert answer.status_code == 202
    assert answer.json() == {"new": 1, "messages": 0, "unreadable": 0}
    [ticket] = await hook.tickets()
    assert (ticket.title, ticket.status) == ("Login fails", "queued")
    assert (await hook.place.run_of(ticket.typed_id)).state == "created"


async def test_what_is_forged_stale_or_replayed_is_answered_alike_and_leaves_no_trace(hook: Hook) -> None:
    body = hook.event(hook.vendor.open_issue("Login fails", "It says 500."))
    other = hook.event(hook.vendor.open_issue("Another", "one"))
    inbox = await hook.connect("drop", "inbox", {})
    assert (await hook.deliver(body)).status_code == 202
    before = await requested_rows(hook.place.gaby)

    refused = [
        await hook.deliver(other, secret="a guess"),
        await hook.deliver(other, x_hub_signature_256=""),
        await hook.deliver(other[:-1] + b" ", x_hub_signature_256=delivered(SECRET, other)["x-hub-signature-256"]),
        await hook.deliver(body),
        await hook.deliver(body, x_github_delivery=str(uuid4())),
        await hook.deliver(other, desk_id=uuid4()),
        await hook.deliver(other, desk_id=inbox),
    ]
    hook.clock.advance(timedelta(seconds=301))
    refused.append(await hook.deliver(other))

    assert {answer.status_code for answer in refused} == {401}
    assert len({stable_body(answer) for answer in refused}) == 1
    assert await requested_rows(hook.place.gaby) == before


def stable_body(answer: httpx2.Response) -> str:
    """Without what differs for every request."""
    return str({name: value for name, value in answer.json().items() if name not in {"request_id", "instance"}})


async def test_a_storm_of_deliveries_is_each_ticket_once(hook: Hook) -> None:
    bodies: list[bytes] = []
    for issue in ("One", "Two", "Three"):
        number = hook.vendor.open_issue(issue, "It says 500.")
        bodies += [hook.event(number), hook.event(number, comment=hook.vendor.comment(number, "Any news?"))]
    dice = Dice("a storm")
    storm = sorted([bodies[0]] * 100 + bodies[1:] * 3, key=lambda _: dice(8))
    limit = asyncio.Semaphore(5)

    async def send(body: bytes) -> int:
        async with limit:
            return (await hook.deliver(body, x_github_delivery=str(uuid4()))).status_code

    answers = await asyncio.gather(*map(send, storm))

    assert sorted(set(answers)) == [202, 401]
    assert answers.count(202) == len(bodies)
    counts = await row_counts(hook.place.gaby)
    assert [counts[table] for table in ("tickets", "investigations", "ticket_messages")] == [3, 3, 3]


@one_engine
async def test_a_delivery_that_could_not_be_stored_is_not_remembered_as_delivered(hook: Hook) -> None:
    body = hook.event(hook.vendor.open_issue("Login fails", "It says 500."))
    failpoints.configure("audit.before_insert=error*1")
    try:
        assert (await hook.deliver(body)).status_code >= 500
    finally:
        failpoints.configure(None)
    assert await hook.tickets() == []

    assert (await hook.deliver(body)).status_code == 202
    assert len(await hook.tickets()) == 1


@one_engine
@pytest.mark.promise("T8")
async def test_a_signed_delivery_that_is_no_ticket_stores_none(hook: Hook) -> None:
    for body in (b"", b"\0", b"[" * 100_000, b'{"issue": {"number": 1}}', b"\xff\xfe", b'{"zen": "ping"}'):
        assert (await hook.deliver(body)).status_code < 500
    assert await hook.tickets() == []


@one_engine
async def test_the_poller_closes_the_gap_that_a_lost_webhook_leaves(hook: Hook) -> None:
    first = hook.vendor.open_issue("Delivered", "It says 500.")
    assert (await hook.deliver(hook.event(first))).status_code == 202
    hook.vendor.open_issue("Lost on its way", "It says 501.")
    hook.vendor.comment(first, "Lost as well")
    await hook.poll()

    assert {ticket.title for ticket in await hook.tickets()} == {"Delivered", "Lost on its way"}
    [delivered_one] = [ticket for ticket in await hook.tickets() if ticket.title == "Delivered"]
    assert [each.body for each in await hook.place.messages(delivered_one.typed_id)] == ["Lost as well"]


@one_engine
async def test_after_an_interrupted_poll_nothing_is_left_out_and_nothing_comes_twice(hook: Hook) -> None:
    for number in range(5):
        hook.vendor.open_issue(f"Issue {number}", "It says 500.")
    failpoints.configure("poll.after_ticket=error@3")
    try:
        with pytest.raises(failpoints.FailpointError):
            await hook.poll()
    finally:
        failpoints.configure(None)
    assert len(await hook.tickets()) == 3
    await hook.poll()
    assert len(await hook.tickets()) == 5

    cursor = await cursor_of(hook)
    asked = len(hook.vendor.asked)
    await hook.poll()
    assert len(await hook.tickets()) == 5
    assert cursor
    assert any("if-none-match" in each.headers or "since" in each.query for each in hook.vendor.asked[asked:])


async def cursor_of(hook: Hook) -> str | None:
    async with hook.place.gaby.database.read(hook.place.workspace_id) as session:
        return (await hook.place.gaby.tickets.desks.get(session, hook.desk_id)).cursor
