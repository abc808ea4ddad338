"""Answers go out: each once, whatever happens on the way, and the issue shows the verdict."""

import pytest

from gaby.tickets.adapters.adapter import DeskOutcomeUnknown, DeskRefused, DeskUnavailable
from gaby.tickets.adapters.github.desk import GitHubDesk
from tests.support.desks.dependencies import MARKER, REPLY, Standing, post_once
from tests.support.desks.faults import HTML, Trouble
from tests.support.desks.github import REPOSITORY, ScriptedGitHub
from tests.tickets.adapters.github.conftest import Opening

pytestmark = pytest.mark.promise("T6")
ISSUE = f"{REPOSITORY}#1"
POST = ("POST", "/comments")


@pytest.fixture(autouse=True)
def issue(vendor: ScriptedGitHub) -> int:
    return vendor.open_issue("Login fails", labels=["bug"])


def bodies(vendor: ScriptedGitHub) -> list[str]:
    return [comment["body"] for comment in vendor.comments[1]]


async def test_a_reply_carries_a_marker_that_readers_do_not_see(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    posted = await desk.post_reply(ISSUE, REPLY, {})

    assert bodies(vendor) == [f"Restart the **app**.\n\nIt works again.\n\n<!-- {MARKER} -->"]
    assert await desk.find_reply(ISSUE, MARKER, {}) == posted
    assert await desk.find_reply(ISSUE, "gaby-" + "f" * 32, {}) is None


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(*POST, "lose"),
        Trouble(*POST, "cut"),
        Trouble(*POST, status=500),
        Trouble(*POST, status=502, body=HTML),
        Trouble(*POST, status=200, body=HTML),
        Trouble(*POST, status=201, body=b"{}"),
    ],
)
async def test_a_reply_is_posted_once(vendor: ScriptedGitHub, desk: GitHubDesk, trouble: Trouble) -> None:
    vendor.troubles.coming.append(trouble)

    with pytest.raises(DeskOutcomeUnknown):
        await desk.post_reply(ISSUE, REPLY, {})
    done = len(bodies(vendor))
    vendor.troubles.coming.append(trouble)
    found = await desk.find_reply(ISSUE, MARKER, {}) or await post_once(desk, ISSUE, REPLY, {})

    assert done == (1 if trouble.what in {"lose", "cut"} else 0)
    assert bodies(vendor) == [f"{REPLY.body}\n\n<!-- {MARKER} -->"]
    assert found == str(vendor.comments[1][0]["id"])


async def test_a_reply_is_found_on_the_last_page(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    vendor.most_for_each_page = 10
    for each in range(35):
        vendor.comment(1, f"Comment {each}")
    posted = await desk.post_reply(ISSUE, REPLY, {})

    assert await desk.find_reply(ISSUE, MARKER, {}) == posted


async def test_a_link_to_another_server_is_not_followed(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    """The token would go there."""
    headers = {"Link": '<http://attacker.example/comments?page=2>; rel="next"'}
    vendor.troubles.coming.append(Trouble("GET", "/comments", status=200, headers=headers, body=b"[]"))

    assert await desk.find_reply(ISSUE, MARKER, {}) is None


@pytest.mark.parametrize(
    ("status", "headers", "error"),
    [
        (429, {"retry-after": "7"}, DeskUnavailable),
        (403, {"retry-after": "7"}, DeskUnavailable),
        (422, {}, DeskRefused),
        (404, {}, DeskRefused),
        (410, {}, DeskRefused),
        (401, {}, DeskRefused),
    ],
)
async def test_what_was_certainly_not_done_is_told_so(
    vendor: ScriptedGitHub, desk: GitHubDesk, status: int, headers: dict[str, str], error: type[Exception]
) -> None:
    vendor.troubles.coming.append(Trouble(*POST, status=status, headers=headers))

    with pytest.raises(error):
        await desk.post_reply(ISSUE, REPLY, {})
    assert not bodies(vendor)


async def test_a_server_that_is_away_has_done_nothing(opening: Opening) -> None:
    with pytest.raises(DeskUnavailable):
        await opening(api_url="http://127.0.0.1:9").post_reply(ISSUE, REPLY, {})


async def test_the_verdict_is_a_label_and_what_is_resolved_is_closed(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    await desk.update_status(ISSUE, "needs_tech", {})
    assert vendor.labels(1) == ["bug", "gaby:needs-tech"]

    for _ in range(2):
        await desk.update_status(ISSUE, "auto_resolved", {})
        assert vendor.labels(1) == ["bug", "gaby:auto-resolved"]
        assert (vendor.issues[1]["state"], vendor.issues[1]["state_reason"]) == ("closed", "completed")


async def test_an_id_from_elsewhere_reaches_no_other_address(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    for external_id in ("../../user#1", "acme/app#1/../2", "acme/app", "acme/app#\u0661", "#1"):
        with pytest.raises(DeskRefused):
            await desk.find_reply(external_id, MARKER, {})
    assert not vendor.asked


async def test_subscribing_twice_leaves_one_webhook(
    vendor: ScriptedGitHub, opening: Opening, dependencies: Standing
) -> None:
    desk = opening()
    said = await desk.subscribe("https://gaby.example/hooks/1")
    await desk.subscribe("https://gaby.example/hooks/1")

    assert said == "GitHub delivers issues and comments to https://gaby.example/hooks/1."
    assert [hook["config"]["secret"] for hook in vendor.hooks] == [dependencies.remembered["webhook_secret"]]
    assert vendor.hooks[0]["events"] == ["issues", "issue_comment"]


async def test_who_may_not_subscribe_is_told_what_to_do(vendor: ScriptedGitHub, desk: GitHubDesk) -> None:
    vendor.troubles.coming.append(Trouble("GET", "/hooks", status=404))

    assert "Settings, Webhooks" in await desk.subscribe("https://gaby.example/hooks/1")
