"""Limits that pass: who meets one is told when to try again, and nothing was done."""

import asyncio
import sys
from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.tools import Asked, Denied, Done, Failed, RetryLater, Run, Unknown
from gaby.tools.admission import Admission
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.decided_calls import DecidedCall
from gaby.tools.launches import CommandSpec
from gaby_connectors.sdk.manifest import Autonomy
from tests.tools.scenes import EVERYTHING, Scene

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
async def busy(scene: Scene) -> Scene:
    await scene.connect("desk", "busy.py")
    return scene


def turn_away(scene: Scene, kind: str, times: int, seconds: str) -> None:
    (scene.folder / "limit").write_text(f"{kind} {times} {seconds}")


@pytest.mark.promise("M7")
async def test_a_read_that_is_turned_away_says_when_to_try_again(busy: Scene) -> None:
    for kind, rule in (("rate_limited", "connector.rate_limited"), ("transient", "connector.busy")):
        turn_away(busy, kind, 3, "0.5")
        later = await busy.invoke(busy.run(), "look")
        assert isinstance(later, RetryLater)
        assert (later.rule, later.seconds, later.connector) == (rule, 0.5, "desk")
        assert "acc-1001" not in later.message
        turn_away(busy, kind, 0, "-")
        assert isinstance(await busy.invoke(busy.run(), "look"), Done)


@pytest.mark.promise("M7")
async def test_a_read_that_fails_without_a_time_fails(busy: Scene) -> None:
    turn_away(busy, "transient", 99, "-")
    assert isinstance(await busy.invoke(busy.run(), "look"), Failed)


@pytest.mark.promise("M4", "L6")
async def test_a_change_is_tried_again_only_where_it_is_certain_that_nothing_was_done(busy: Scene) -> None:
    run = busy.run(words="acc-1001")
    turn_away(busy, "rate_limited", 1, "7")
    later = await busy.invoke(run, "pay", account_id="acc-1001")
    assert isinstance(later, RetryLater)
    assert later.seconds == 7
    turn_away(busy, "transient", 1, "7")
    assert isinstance(await busy.invoke(run, "pay", account_id="acc-1001"), Failed)
    turn_away(busy, "unknown", 1, "7")
    assert isinstance(await busy.invoke(run, "pay", account_id="acc-1001"), Unknown)
    turn_away(busy, "crash", 1, "-")
    assert isinstance(await busy.invoke(busy.run(words="acc-1001"), "pay", account_id="acc-1001"), Unknown)
    assert busy.effects == []


@pytest.mark.promise("M2", "M7")
async def test_a_connector_that_was_put_aside_says_how_long_it_is_left_alone(scene: Scene, clock: ManualClock) -> None:
    await scene.connect("desk", "busy.py")
    turn_away(scene, "crash", 99, "-")
    for _ in range(4):
        await scene.invoke(scene.run(), "look")
    later = await scene.invoke(scene.run(), "look")
    assert isinstance(later, RetryLater)
    assert later.rule == "connector.unavailable"
    assert 50 < later.seconds <= 60
    turn_away(scene, "crash", 0, "-")
    clock.advance(timedelta(seconds=later.seconds))
    assert isinstance(await scene.invoke(scene.run(), "look"), Done)


@pytest.mark.promise("M7")
async def test_a_connector_whose_command_is_gone_is_not_waited_for(scene: Scene) -> None:
    await scene.connect("desk", "busy.py")
    async with scene.gaby.database.write(scene.workspace_id) as session:
        row = await scene.gaby.tools.connectors.get(session, "desk")
        row.launch = CommandSpec(command=f"{sys.executable}-gone").model_dump(mode="json")
    await scene.limit("desk", PolicyChange(Autonomy.ACT, EVERYTHING))
    for _ in range(2):
        outcome = await scene.invoke(scene.run(), "look")
        assert isinstance(outcome, Failed)


@pytest.mark.promise("S2")
async def test_many_calls_at_once_do_not_pass_the_limit_together(busy: Scene) -> None:
    await busy.limit("desk", PolicyChange(writes_per_minute=3))
    run = busy.run(words=" ".join(f"acc-{n}" for n in range(10)))
    outcomes = await asyncio.gather(*(busy.invoke(run, "pay", account_id=f"acc-{n}") for n in range(10)))
    assert sum(isinstance(each, Done) for each in outcomes) == 3
    assert sum(isinstance(each, RetryLater) for each in outcomes) == 7
    assert len(busy.effects) == 3


@pytest.mark.promise("M8")
async def test_what_is_known_already_does_not_wait(desk: Scene) -> None:
    await desk.limit("desk", PolicyChange(reads_per_minute=1))
    assert isinstance(await desk.invoke(desk.run(), "list_accounts"), Done)
    again = await desk.invoke(desk.run(), "list_accounts")
    assert isinstance(again, Done)
    assert again.cached
    assert isinstance(await desk.invoke(desk.run(), "find_account", email="ada@acme.example"), RetryLater)


@pytest.mark.promise("S6")
async def test_waiting_does_not_use_up_an_approval(desk: Scene, clock: ManualClock) -> None:
    await desk.limit("desk", PolicyChange(writes_per_minute=2))
    run = desk.run(words="acc-1001")
    asked = await desk.invoke(run, "delete_account", account_id="acc-1001")
    assert isinstance(asked, Asked)
    await desk.decide(asked.approval_id)
    for text in ("one", "two"):
        await desk.invoke(run, "add_note", account_id="acc-1001", text=text)
    for _ in range(3):
        assert isinstance(await desk.apply(run, asked.approval_id), RetryLater)
    clock.advance(timedelta(minutes=1))
    assert isinstance(await desk.apply(run, asked.approval_id), Done)
    assert isinstance(await desk.apply(run, asked.approval_id), Denied)
    assert desk.effects.count("delete acc-1001") == 1


@pytest.mark.promise("S6")
async def test_an_approved_change_that_its_system_turns_away_keeps_its_approval(busy: Scene) -> None:
    run = busy.run()
    asked = await busy.invoke(run, "pay", account_id="acc-1001")
    assert isinstance(asked, Asked)
    await busy.decide(asked.approval_id)
    turn_away(busy, "rate_limited", 1, "7")
    assert isinstance(await busy.apply(run, asked.approval_id), RetryLater)
    assert (await busy.audited()).count("approval.put_back") == 1
    assert isinstance(await busy.apply(run, asked.approval_id), Done)
    assert isinstance(await busy.apply(run, asked.approval_id), Denied)
    assert busy.effects == ["paid acc-1001"]


@pytest.mark.promise("S6")
async def test_whoever_is_turned_away_gives_nobody_elses_approval_back(
    busy: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two who try at the same time one has used it. That the other was told to wait makes it no new one."""
    run = busy.run()
    asked = await busy.invoke(run, "pay", account_id="acc-1001")
    assert isinstance(asked, Asked)
    await busy.decide(asked.approval_id)
    admit, first = Admission.admit, True

    async def overtaken(self: Admission, decided: DecidedCall, run: Run) -> object:
        nonlocal first
        if first:
            first = False
            assert isinstance(await busy.apply(run, asked.approval_id), Done)
            return RetryLater("connector.unavailable", "It starts.", 1.0, "desk")
        return await admit(self, decided, run)

    monkeypatch.setattr(Admission, "admit", overtaken)
    assert isinstance(await busy.apply(run, asked.approval_id), RetryLater)
    assert isinstance(await busy.apply(run, asked.approval_id), Denied)
    assert "approval.put_back" not in await busy.audited()
    assert busy.effects == ["paid acc-1001"]


@pytest.mark.promise("S6")
async def test_an_approval_whose_outcome_is_unknown_stays_used(busy: Scene) -> None:
    run = busy.run()
    asked = await busy.invoke(run, "pay", account_id="acc-1001")
    assert isinstance(asked, Asked)
    await busy.decide(asked.approval_id)
    turn_away(busy, "unknown", 1, "7")
    assert isinstance(await busy.apply(run, asked.approval_id), Unknown)
    assert isinstance(await busy.apply(run, asked.approval_id), Denied)


@pytest.mark.promise("S6")
async def test_a_rehearsal_that_checks_an_approval_needs_no_room_of_its_own(desk: Scene, clock: ManualClock) -> None:
    await desk.limit("desk", PolicyChange(writes_per_minute=1))
    run = desk.run()
    asked = await desk.invoke(run, "unlock", account_id="acc-1001")
    assert isinstance(asked, Asked)
    await desk.decide(asked.approval_id)
    assert isinstance(await desk.apply(run, asked.approval_id), RetryLater)
    clock.advance(timedelta(minutes=1))
    assert isinstance(await desk.apply(run, asked.approval_id), Done)


@pytest.mark.promise("S11")
async def test_a_kill_switch_is_heard_before_the_limit(desk: Scene) -> None:
    await desk.limit("desk", PolicyChange(writes_per_minute=1))
    run = desk.run(words="acc-1001")
    await desk.invoke(run, "add_note", account_id="acc-1001", text="one")
    async with desk.gaby.database.write(desk.workspace_id) as session:
        await desk.gaby.tools.kill_switches.pull(session, desk.actor, "trouble")
    denied = await desk.invoke(run, "add_note", account_id="acc-1001", text="two")
    assert isinstance(denied, Denied)


@pytest.mark.promise("S2")
async def test_new_connectors_have_the_limits_of_the_installation(scene: Scene) -> None:
    way = CommandSpec(command=sys.executable)
    async with scene.gaby.database.write(scene.workspace_id) as session:
        usual = await scene.gaby.tools.connectors.add(session, scene.actor, NewConnector("a", "command", way))
        own = NewConnector("b", "command", way, reads_per_minute=7, writes_per_minute=0)
        other = await scene.gaby.tools.connectors.add(session, scene.actor, own)
    assert (usual.reads_per_minute, usual.writes_per_minute) == (300, 30)
    assert (other.reads_per_minute, other.writes_per_minute) == (7, 0)
