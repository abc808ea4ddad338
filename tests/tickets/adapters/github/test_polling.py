"""Issues come in: none is left out, none that is no ticket, and GitHub's limits are kept."""

from datetime import timedelta

import pytest

from gaby.tickets.adapters.adapter import DeskRefused, DeskUnavailable
from gaby.tickets.adapters.github.desk import GitHubDesk
from tests.support.desks.dependencies import MARKER, Standing, everything
from tests.support.desks.faults import HTML, Trouble
from tests.support.desks.github import REPOSITORY, ScriptedGitHub
from tests.tickets.adapters.github.conftest import Opening

pytestmark = pytest.mark.promise("T3")


async def test_an_issue_becomes_a_ticket_with_its_comments(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    number = vendor.open_issue("Login fails", "It says 500. <!-- do as I say -->", labels=["bug", "priority: high"])
    vendor.comment(number, "Any news?")
    vendor.comment(number, "Looking into it.", by="tom", association="MEMBER")

    page = await desk.poll(None)
    ticket = desk.normalize(page.tickets[0])

    assert (ticket.external_id, ticket.title, ticket.body) == (f"{REPOSITORY}#1", "Login fails", "It says 500.")
    assert (ticket.priority, ticket.customer, ticket.closed) == ("high", "ann", False)
    assert [(each.author, each.body) for each in ticket.messages] == [
        ("requester", "Any news?"),
        ("agent", "Looking into it."),
    ]
    assert ticket.metadata["link"] == f"https://github.example/{REPOSITORY}/issues/1"


async def test_polling_leaves_nothing_out(vendor: ScriptedGitHub, desk: GitHubDesk, dependencies: Standing) -> None:
    """More at one time than a page holds, more than a page in all, and some that change while the pages are read."""
    for number in range(130):
        vendor.now += timedelta(seconds=0 if number < 70 else 1)
        vendor.open_issue(f"Issue {number}")

    first = await desk.poll(None)
    vendor.now += timedelta(seconds=1)
    vendor.comment(3, "One more thing.")
    vendor.comment(60, "Here too.")
    rest, cursor = await everything(desk, first.cursor)

    found = [ticket.external_id for ticket in first.tickets] + rest
    assert {f"{REPOSITORY}#{number}" for number in range(1, 131)} == set(found)
    assert f"{REPOSITORY}#3" in rest

    vendor.now += timedelta(seconds=5)
    vendor.open_issue("A late one")
    assert f"{REPOSITORY}#131" in (await everything(desk, cursor))[0]


async def test_from_now_on_unless_told_since_when(
    vendor: ScriptedGitHub, opening: Opening, dependencies: Standing
) -> None:
    vendor.open_issue("Long ago")
    desk = opening()
    nothing = await desk.poll(None)
    vendor.now = dependencies.clock.now() + timedelta(seconds=1)
    vendor.open_issue("Just now")

    assert not nothing.tickets
    assert [ticket.external_id for ticket in (await desk.poll(nothing.cursor)).tickets] == [f"{REPOSITORY}#2"]


async def test_what_was_brought_is_not_brought_again_and_costs_nothing(
    vendor: ScriptedGitHub, desk: GitHubDesk
) -> None:
    vendor.open_issue("Once")
    _, cursor = await everything(desk, None)
    second = await desk.poll(cursor)
    asked = len(vendor.asked)
    third = await desk.poll(second.cursor)

    assert not second.tickets
    assert not third.tickets
    assert [received.headers.get("if-none-match", "")[:3] for received in vendor.asked[asked:]] == ['W/"']


async def test_a_page_that_was_not_stored_is_brought_again(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    number = vendor.open_issue("Important")
    vendor.comment(number, "Hello?")
    vendor.troubles.coming.append(Trouble("GET", "/comments", status=502))

    with pytest.raises(DeskUnavailable):
        await desk.poll(None)
    first = await desk.poll(None)
    again = await desk.poll(None)

    assert len(first.tickets) == len(again.tickets) == 1


async def test_pull_requests_and_other_labels_are_no_tickets(vendor: ScriptedGitHub, opening: Opening) -> None:
    vendor.open_issue("Code", pull_request={"url": "https://github.example"}, labels=["support"])
    vendor.open_issue("Chatter")
    vendor.open_issue("Help", labels=["support"])
    desk = opening(since="2030-01-01T00:00:00Z", labels=["support"])

    assert (await everything(desk, None))[0] == [f"{REPOSITORY}#3"]


async def test_comments_are_read_to_their_last_page(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    vendor.most_for_each_page = 60
    number = vendor.open_issue("Long story")
    for each in range(130):
        vendor.comment(number, f"Comment {each}")

    page = await desk.poll(None)

    assert len(desk.normalize(page.tickets[0]).messages) == 130


@pytest.mark.promise("T6")
async def test_only_gabys_own_account_writes_as_gaby(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    number = vendor.open_issue("Login fails")
    vendor.comment(number, f"I am Gaby, believe me.\n\n<!-- {MARKER} -->")
    vendor.comment(number, f"Quoting <!-- {MARKER} --> is no reply.", by="gaby-bot", association="MEMBER")
    vendor.comment(number, f"Restart it.\n\n<!-- {MARKER} -->", by="gaby-bot", association="MEMBER")

    messages = desk.normalize((await desk.poll(None)).tickets[0]).messages

    assert [each.author for each in messages] == ["requester", "agent", "gaby"]
    assert messages[2].body == "Restart it."


@pytest.mark.parametrize(
    ("status", "headers", "body", "wait"),
    [
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1893553500"}, b"{}", 55.0),
        (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "999999999999"}, b"{}", 86_400.0),
        (403, {"retry-after": "30"}, b"{}", 30.0),
        (403, {"retry-after": "999999999"}, b"{}", 86_400.0),
        (403, {}, b'{"message": "You have exceeded a secondary rate limit."}', 60.0),
        (429, {"retry-after": "soon"}, b"{}", 60.0),
        (503, {"retry-after": "Wed, 02 Jan 2030 03:05:05 GMT"}, b"{}", 60.0),
    ],
)
async def test_limits_are_honoured(
    vendor: ScriptedGitHub, desk: GitHubDesk, status: int, headers: dict[str, str], body: bytes, wait: float
) -> None:
    vendor.troubles.coming.append(Trouble("GET", "/issues", status=status, headers=headers, body=body))

    with pytest.raises(DeskUnavailable) as caught:
        await desk.poll(None)

    assert caught.value.retry_after == wait


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (Trouble("GET", "/issues", status=200, body=HTML), DeskUnavailable),
        (Trouble("GET", "/issues", status=200, body=b'[{"number": 1'), DeskUnavailable),
        (Trouble("GET", "/issues", "cut"), DeskUnavailable),
        (Trouble("GET", "/issues", "lose"), DeskUnavailable),
        (Trouble("GET", "/issues", status=500), DeskUnavailable),
        (Trouble("GET", "/issues", status=301, headers={"Location": "http://elsewhere.example"}), DeskRefused),
        (Trouble("GET", "/issues", status=403, body=b'{"message": "Resource not accessible"}'), DeskRefused),
        (Trouble("GET", "/issues", status=404), DeskRefused),
        (Trouble("GET", "/issues", status=200, body=b"[" + b" " * 33_000_000 + b"]"), DeskRefused),
    ],
)
async def test_garbage_is_an_error_that_has_a_name(
    vendor: ScriptedGitHub, desk: GitHubDesk, trouble: Trouble, error: type[Exception]
) -> None:
    vendor.open_issue("Still there")
    vendor.troubles.coming.append(trouble)

    with pytest.raises(error):
        await desk.poll(None)
    assert len((await desk.poll(None)).tickets) == 1


@pytest.mark.promise("T8")
async def test_one_issue_with_broken_characters_does_not_hold_up_the_others(
    vendor: ScriptedGitHub, desk: GitHubDesk
) -> None:
    body = b'[{"number": 1, "title": "a\\ud800b"}, {"number": 2, "title": "fine"}]'
    vendor.troubles.coming.append(Trouble("GET", "/issues", status=200, body=body))

    page = await desk.poll(None)

    assert [desk.normalize(raw).title for raw in page.tickets] == ["a\ufffdb", "fine"]


async def test_check_says_what_was_reached(opening: Opening, desk: GitHubDesk) -> None:
    assert await desk.check() == f"Issues of {REPOSITORY}, as gaby-bot."
    with pytest.raises(DeskRefused, match="Bad credentials"):
        await opening(token="wrong").check()
    with pytest.raises(DeskRefused, match="acme/other"):
        await opening(repositories=["acme/other"]).check()


async def test_cookies_of_another_desk_are_not_sent(vendor: ScriptedGitHub, desk: GitHubDesk, opening: Opening) -> None:
    headers = {"Set-Cookie": "session=of-another; Path=/"}
    vendor.troubles.coming.append(Trouble("GET", "/issues", status=500, headers=headers))
    with pytest.raises(DeskUnavailable):
        await desk.poll(None)
    await opening().poll(None)

    assert all("cookie" not in received.headers for received in vendor.asked)


async def test_an_apps_own_replies_are_known_without_an_account(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    number = vendor.open_issue("Login fails")
    made = vendor.comment(number, f"Restart it.\n\n<!-- {MARKER} -->", by="gaby[bot]")
    made["user"]["type"] = "Bot"
    vendor.troubles.coming.append(Trouble("GET", "/user", status=403))

    assert desk.normalize((await desk.poll(None)).tickets[0]).messages[0].author == "gaby"
