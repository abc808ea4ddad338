"""Within one sitting an operator is not asked again for the same harmless kind of action."""

from datetime import timedelta

import pytest

from gaby.identity import Role
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import ManualClock
from gaby.kernel.ids import PersonId
from gaby.tools import Asked, Done
from gaby.tools.connectors import PolicyChange
from gaby_connectors.sdk.manifest import Autonomy
from tests.support.app_client import Browser, World
from tests.tools.scenes import Scene

pytestmark = pytest.mark.promise("S12")


async def sit_down(desk: Scene) -> tuple[Browser, Actor]:
    world = World(desk.gaby)
    browser = await world.member("grace@acme.example", desk.workspace_id, Role.OPERATOR)
    actor = Actor(
        "user", "grace", desk.workspace_id, frozenset({Permission.APPROVALS_DECIDE}), PersonId(browser.person_id)
    )
    return browser, actor


async def agree(desk: Scene, actor: Actor, tool: str = "add_note", **arguments: str) -> None:
    asked = await desk.invoke(desk.run(words="acc-1001"), tool, **arguments)
    assert isinstance(asked, Asked)
    await desk.decide(asked.approval_id, by=actor, remember=True)


async def note(desk: Scene, account_id: str = "acc-1001") -> object:
    return await desk.invoke(desk.run(words="acc-1001"), "add_note", account_id=account_id, text="hello")


async def test_once_agreed_the_same_kind_of_action_runs_until_the_sitting_ends(desk: Scene, clock: ManualClock) -> None:
    await desk.limit("desk", PolicyChange(autonomy=Autonomy.PROPOSE))
    _, grace = await sit_down(desk)
    await agree(desk, grace, account_id="acc-1001", text="hello")
    assert isinstance(await note(desk), Done)
    clock.advance(timedelta(hours=8))
    assert isinstance(await note(desk), Asked)


async def test_it_does_not_cover_values_from_outside(desk: Scene) -> None:
    await desk.limit("desk", PolicyChange(autonomy=Autonomy.PROPOSE))
    _, grace = await sit_down(desk)
    await agree(desk, grace, account_id="acc-1001", text="hello")
    outcome = await note(desk, "acc-2002")
    assert isinstance(outcome, Asked)
    assert [concern.rule for concern in outcome.verdict.concerns] == ["provenance"]


async def test_it_never_covers_a_dangerous_tool(desk: Scene) -> None:
    await desk.limit("desk", PolicyChange(autonomy=Autonomy.PROPOSE))
    _, grace = await sit_down(desk)
    await agree(desk, grace, "unlock", account_id="acc-1001")
    assert isinstance(await desk.invoke(desk.run(words="acc-1001"), "unlock", account_id="acc-1001"), Asked)


async def test_signing_out_ends_the_sitting(desk: Scene) -> None:
    await desk.limit("desk", PolicyChange(autonomy=Autonomy.PROPOSE))
    browser, grace = await sit_down(desk)
    await agree(desk, grace, account_id="acc-1001", text="hello")
    assert (await browser.send("DELETE", "/api/session")).status_code == 204
    assert isinstance(await note(desk), Asked)


async def test_a_program_has_no_sitting(desk: Scene) -> None:
    await desk.limit("desk", PolicyChange(autonomy=Autonomy.PROPOSE))
    await agree(desk, desk.actor, account_id="acc-1001", text="hello")
    assert isinstance(await note(desk), Asked)


async def test_whoever_changes_the_policy_ends_what_was_agreed_under_the_old_one(desk: Scene) -> None:
    await desk.limit("desk", PolicyChange(autonomy=Autonomy.PROPOSE))
    _, actor = await sit_down(desk)
    await agree(desk, actor, account_id="acc-1001", text="hello")
    assert isinstance(await note(desk), Done)
    await desk.limit("desk", PolicyChange(writes_per_minute=20))
    assert isinstance(await note(desk), Asked)
