"""A kill switch takes effect within one step, wherever it was pulled, and survives restarts."""

import pytest

from gaby.app import build
from gaby.kernel.actors import system_actor
from gaby.kernel.errors import Invalid, NotFound
from gaby.kernel.ids import SYSTEM, ConnectorId
from gaby.tools import Denied, Done
from tests.tools.scenes import Scene

pytestmark = pytest.mark.promise("S11")


async def switch(scene: Scene, what: str, *, lift: bool = False) -> None:
    switches = scene.gaby.tools.kill_switches
    scope = SYSTEM if what == "everything" else scene.workspace_id
    async with scene.gaby.database.write(scope) as session:
        target = None
        if what == "connector":
            target = ConnectorId((await scene.gaby.tools.connectors.get(session, "desk")).id)
        if lift:
            await switches.lift(session, system_actor("test", scope), target)
        else:
            await switches.pull(session, system_actor("test", scope), "something is wrong", target)


@pytest.mark.parametrize("what", ["everything", "workspace", "connector"])
async def test_after_it_was_pulled_nothing_runs_until_it_is_lifted(desk: Scene, what: str) -> None:
    run = desk.run(words="acc-1001")
    assert isinstance(await desk.invoke(run, "unlock", account_id="acc-1001"), Done)
    await switch(desk, what)
    for tool, arguments in (("unlock", {"account_id": "acc-1001"}), ("list_accounts", {})):
        outcome = await desk.invoke(run, tool, **arguments)
        assert isinstance(outcome, Denied)
        assert outcome.verdict.rule == "kill_switch"
        assert "something is wrong" in outcome.verdict.reason
    assert desk.effects == ["unlock acc-1001"]
    await switch(desk, what, lift=True)
    assert isinstance(await desk.invoke(desk.run(words="acc-1001"), "unlock", account_id="acc-1001"), Done)


async def test_it_beats_an_approval(desk: Scene) -> None:
    run = desk.run()
    asked = await desk.invoke(run, "unlock", account_id="acc-2002")
    approval_id = getattr(asked, "approval_id", None)
    assert approval_id is not None
    await desk.decide(approval_id)
    await switch(desk, "connector")
    assert isinstance(await desk.apply(run, approval_id), Denied)
    assert desk.effects == []


@pytest.mark.parametrize("what", ["everything", "workspace", "connector"])
async def test_pulled_by_another_process_it_stops_the_very_next_effect_here(desk: Scene, what: str) -> None:
    """This process has the policy in memory; the fence of the intent finds out that it is old."""
    run = desk.run(words="acc-1001")
    await desk.invoke(run, "unlock", account_id="acc-1001")
    other = build(desk.gaby.settings, clock=desk.gaby.clock)
    async with other.running(background=False):
        await switch(Scene(other, desk.workspace_id, desk.folder), what)
    outcome = await desk.invoke(run, "unlock", account_id="acc-1001")
    assert isinstance(outcome, Denied)
    assert outcome.verdict.rule == "kill_switch"
    assert desk.effects == ["unlock acc-1001"]


async def test_it_survives_a_restart(desk: Scene) -> None:
    await switch(desk, "workspace")
    again = build(desk.gaby.settings, clock=desk.gaby.clock)
    async with again.running(background=False):
        later = Scene(again, desk.workspace_id, desk.folder)
        outcome = await later.invoke(later.run(), "list_accounts")
        assert isinstance(outcome, Denied)
        assert outcome.verdict.rule == "kill_switch"


async def test_it_needs_a_reason_and_lifting_needs_one_that_is_pulled(desk: Scene) -> None:
    async with desk.gaby.database.write(desk.workspace_id) as session:
        with pytest.raises(Invalid):
            await desk.gaby.tools.kill_switches.pull(session, desk.actor, "  ")
        with pytest.raises(NotFound):
            await desk.gaby.tools.kill_switches.lift(session, desk.actor)
        one = await desk.gaby.tools.kill_switches.pull(session, desk.actor, "first")
        two = await desk.gaby.tools.kill_switches.pull(session, desk.actor, "second")
        assert one is two
