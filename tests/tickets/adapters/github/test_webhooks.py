"""Deliveries of GitHub are believed when they are signed, of the last minutes, and new."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from gaby.tickets.adapters.adapter import WebhookRefused
from gaby.tickets.adapters.github.desk import GitHubDesk
from tests.support.desks.dependencies import Standing
from tests.support.desks.github import REPOSITORY, ScriptedGitHub, delivered, timestamp
from tests.tickets.adapters.github.conftest import Opening

pytestmark = pytest.mark.promise("T4")
SECRET = "a secret of the hook"


def event(vendor: ScriptedGitHub, dependencies: Standing, **more: Any) -> bytes:
    vendor.now = dependencies.clock.now()
    number = vendor.open_issue("Login fails", "It says 500.")
    repository = {"full_name": REPOSITORY}
    return orjson.dumps({"action": "opened", "issue": vendor.issues[number], "repository": repository, **more})


async def test_a_signed_delivery_is_a_ticket(vendor: ScriptedGitHub, desk: GitHubDesk, dependencies: Standing) -> None:
    comment = {
        "id": 5,
        "body": "Any news?",
        "user": {"login": "ann"},
        "updated_at": timestamp(dependencies.clock.now()),
    }
    body = event(vendor, dependencies, comment=comment)

    delivery = desk.verify(delivered(SECRET, body), body, dependencies.clock.now())
    ticket = desk.normalize(delivery.tickets[0])

    assert (ticket.external_id, ticket.title) == (f"{REPOSITORY}#1", "Login fails")
    assert [message.body for message in ticket.messages] == ["Any news?"]


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "sha256=",
        "sha1=aa",
        "sha256=" + "0" * 64,
        "sha256=\u00ff",
        "sha256=" + "z" * 64,
        "=",
        "sha256=" + "a" * 9999,
    ],
)
async def test_without_the_right_signature_nothing_is_read(
    vendor: ScriptedGitHub, desk: GitHubDesk, dependencies: Standing, signature: str
) -> None:
    with pytest.raises(WebhookRefused):
        desk.verify({"x-hub-signature-256": signature}, event(vendor, dependencies), dependencies.clock.now())


async def test_no_secret_means_no_webhooks(vendor: ScriptedGitHub, opening: Opening, dependencies: Standing) -> None:
    body = event(vendor, dependencies)
    with pytest.raises(WebhookRefused):
        opening().verify(delivered("", body), body, dependencies.clock.now())


async def test_a_changed_byte_is_refused(vendor: ScriptedGitHub, desk: GitHubDesk, dependencies: Standing) -> None:
    body = event(vendor, dependencies)
    with pytest.raises(WebhookRefused):
        desk.verify(delivered(SECRET, body), body.replace(b"500", b"501"), dependencies.clock.now())


async def test_a_replay_has_the_same_id_whatever_its_headers_say(
    vendor: ScriptedGitHub, desk: GitHubDesk, dependencies: Standing
) -> None:
    body = event(vendor, dependencies)
    first = desk.verify(delivered(SECRET, body), body, dependencies.clock.now())
    again = desk.verify({**delivered(SECRET, body), "x-github-delivery": "2"}, body, dependencies.clock.now())
    shouted = {"x-hub-signature-256": "sha256=" + delivered(SECRET, body)["x-hub-signature-256"][7:].upper()}

    assert first.id == again.id == desk.verify(shouted, body, dependencies.clock.now()).id
    assert first.id != desk.verify(delivered(SECRET, body + b" "), body + b" ", dependencies.clock.now()).id


@pytest.mark.parametrize("seconds", [-301, 301])
async def test_an_old_delivery_is_refused(
    vendor: ScriptedGitHub, desk: GitHubDesk, dependencies: Standing, seconds: int
) -> None:
    body = event(vendor, dependencies)
    near = timedelta(seconds=seconds - 2 if seconds > 0 else seconds + 2)

    assert desk.verify(delivered(SECRET, body), body, dependencies.clock.now() + near).tickets
    with pytest.raises(WebhookRefused):
        desk.verify(delivered(SECRET, body), body, dependencies.clock.now() + timedelta(seconds=seconds))


@pytest.mark.parametrize(
    "body",
    [
        b'{"zen": "Keep it logically awesome.", "hook_id": 1}',
        b"[]",
        b"no JSON",
        b'{"issue": {"number": 1, "pull_request": {}}, "repository": {"full_name": "acme/app"}}',
        b'{"issue": {"number": 1}, "repository": {"full_name": "acme/other"}}',
        b'{"action": "deleted", "issue": {"number": 1}, "repository": {"full_name": "acme/app"}}',
        b'{"action": [], "issue": {"number": 1}, "repository": {"full_name": ["acme/app"]}}',
        b"[" * 100_000,
    ],
)
async def test_what_is_no_issue_of_ours_brings_no_ticket(desk: GitHubDesk, dependencies: Standing, body: bytes) -> None:
    assert not desk.verify(delivered(SECRET, body), body, dependencies.clock.now()).tickets


async def test_a_strange_action_is_no_error(vendor: ScriptedGitHub, desk: GitHubDesk, dependencies: Standing) -> None:
    body = event(vendor, dependencies, action=[{}])
    assert desk.verify(delivered(SECRET, body), body, dependencies.clock.now()).tickets


@pytest.mark.promise("T5")
async def test_an_issue_has_one_id_whichever_way_it_comes(
    vendor: ScriptedGitHub, opening: Opening, dependencies: Standing
) -> None:
    body = event(vendor, dependencies).replace(b'"acme/app"', b'"Acme/App"')
    desk = opening(since="2030-01-01T00:00:00Z", webhook_secret=SECRET)
    polled = (await desk.poll(None)).tickets[0]

    assert [
        raw.external_id for raw in desk.verify(delivered(SECRET, body), body, dependencies.clock.now()).tickets
    ] == [polled.external_id]
    picky = opening(webhook_secret=SECRET, labels=["support"])
    assert not picky.verify(delivered(SECRET, body), body, dependencies.clock.now()).tickets
