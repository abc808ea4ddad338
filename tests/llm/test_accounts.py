"""Accounts and routes of a workspace: keys sealed, changes at once, nothing of another workspace's."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import select

from gaby.app import Gaby
from gaby.kernel.actors import Permission, system_actor
from gaby.kernel.errors import Invalid, NotFound
from gaby.kernel.ids import SYSTEM, RunId, WorkspaceId
from gaby.llm.accounts import EMBEDDINGS, ModelAccountExists, NewAccount, OwnAddress
from gaby.llm.models import ModelAccount
from gaby.llm.prices import Price
from gaby.llm.providers.config import Kind
from gaby.llm.results import SkillContext, SkillResult
from gaby.llm.setups import ModelRef, parse_chain, parse_ref
from gaby.llm.tiers import Tier
from gaby.usage.budgets import LimitChange
from gaby.usage.models import LlmCall, UsageCounter
from gaby.usage.plans import PlanName
from tests.llm.skills import WEIGH, Complaint, Weight
from tests.support.database_dump import all_rows
from tests.support.models.replies import structured
from tests.support.models.scripted_vendors import KEY, ScriptedModels

GOOD = structured({"kilos": 3, "why": "it says so"})
ACTOR = system_actor("test")


class Office:
    """Two workspaces of a whole Gaby."""

    def __init__(self, gaby: Gaby, acme: WorkspaceId, byte: WorkspaceId, vendors: ScriptedModels) -> None:
        self.gaby, self.acme, self.byte, self.vendors = gaby, acme, byte, vendors

    async def add(
        self, name: str = "claude", kind: Kind = "anthropic", *, key: str = KEY, where: WorkspaceId | None = None
    ) -> None:
        async with self.gaby.database.write(where or self.acme) as session:
            new = NewAccount(name, kind, self.vendors.address(kind), key)
            await self.gaby.models.accounts.add(session, ACTOR, new)

    async def route(self, name: str, chain: str | None, where: WorkspaceId | None = None) -> None:
        async with self.gaby.database.write(where or self.acme) as session:
            await self.gaby.models.route(session, ACTOR, name, None if chain is None else parse_chain(chain))

    async def ask(self, where: WorkspaceId | None = None) -> SkillResult[Weight]:
        occasion = SkillContext(where or self.acme, RunId(self.gaby.ids.new()))
        return await self.gaby.models.runner.run(WEIGH, Complaint(), occasion)

    async def calls(self) -> list[LlmCall]:
        async with self.gaby.database.read(self.acme) as session:
            return list(await session.scalars(select(LlmCall).where(LlmCall.workspace_id == self.acme)))


@pytest.fixture
async def office(gaby: Gaby, vendors: ScriptedModels) -> Office:
    workspace_ids: list[WorkspaceId] = []
    for slug in ("acme", "byte"):
        async with gaby.database.write(SYSTEM) as session:
            row = await gaby.identity.workspaces.create(session, ACTOR, slug=slug, name=slug)
            workspace_ids.append(WorkspaceId(row.id))
    return Office(gaby, workspace_ids[0], workspace_ids[1], vendors)


@pytest.mark.promise("G1", "G3")
async def test_an_account_and_a_route_are_all_that_it_takes(office: Office) -> None:
    assert (await office.ask()).offline
    await office.add()
    await office.route("big", "claude/claude-test")
    office.vendors.say(GOOD)
    assert (await office.ask()).source == "claude/claude-test"
    assert (await office.ask(office.byte)).offline


@pytest.mark.promise("G1")
@pytest.mark.parametrize("kind", ["anthropic", "openai", "compatible"])
async def test_several_kinds_of_provider_answer_the_same_skill(office: Office, kind: Kind) -> None:
    model = {"anthropic": "claude-test", "openai": "gpt-test", "compatible": "local-test"}[kind]
    await office.add("mine", kind)
    await office.route("big", f"mine/{model}")
    office.vendors.say(GOOD)
    assert (await office.ask()).source == f"mine/{model}"


async def test_the_key_is_sealed_where_it_is_kept_and_shown_nowhere(office: Office) -> None:
    await office.add()
    async with office.gaby.database.read(office.acme) as session:
        row = await office.gaby.models.accounts.get(session, "claude")
        assert (await office.gaby.models.accounts.config(session, row)).secret == KEY
    assert KEY not in f"{row!r} {row.key}"
    assert KEY not in json.dumps(await all_rows(office.gaby), default=repr)


async def test_a_new_key_counts_at_once(office: Office) -> None:
    await office.add(key="sk-wrong")
    await office.route("big", "claude/claude-test")
    assert [hop.outcome for hop in (await office.ask()).hops] == ["key_refused"]
    async with office.gaby.database.write(office.acme) as session:
        row = await office.gaby.models.accounts.get(session, "claude")
        await office.gaby.models.accounts.set_key(session, ACTOR, row, KEY)
    office.vendors.say(GOOD)
    assert (await office.ask()).source == "claude/claude-test"


async def test_a_removed_account_is_not_asked_and_its_key_is_gone(office: Office) -> None:
    await office.add()
    await office.route("big", "claude/claude-test")
    async with office.gaby.database.write(office.acme) as session:
        row = await office.gaby.models.accounts.get(session, "claude")
        await office.gaby.models.accounts.remove(session, ACTOR, row)
    assert (await office.ask()).offline
    async with office.gaby.database.read(office.acme) as session:
        assert list(await session.scalars(select(ModelAccount).where(ModelAccount.workspace_id == office.acme))) == []
        with pytest.raises(NotFound):
            await office.gaby.models.accounts.get(session, "claude")


async def test_an_address_of_ones_own_is_for_whoever_manages_the_installation(office: Office) -> None:
    admin = replace(ACTOR, permissions=frozenset(Permission) - {Permission.INSTALLATION_MANAGE})
    async with office.gaby.database.write(office.acme) as session:
        new = NewAccount("mine", "compatible", "http://169.254.169.254/v1")
        with pytest.raises(OwnAddress):
            await office.gaby.models.accounts.add(session, admin, new)
        await office.gaby.models.accounts.add(session, admin, NewAccount("claude", "anthropic", key="sk-1"))


@pytest.mark.parametrize("name", ["", "local", "offline", "UPPER", "a b", "a/b", "x" * 60, "1st"])
async def test_a_strange_name_is_refused(office: Office, name: str) -> None:
    async with office.gaby.database.write(office.acme) as session:
        with pytest.raises(Invalid):
            await office.gaby.models.accounts.add(session, ACTOR, NewAccount(name, "anthropic", key="sk-1"))


async def test_two_accounts_cannot_have_one_name(office: Office) -> None:
    await office.add()
    with pytest.raises(ModelAccountExists):
        await office.add()
    await office.add(where=office.byte)


@pytest.mark.parametrize("text", ["", ",", "gpt", "/x", "x/", "a/b\nc", ",".join(["a/b"] * 9), "a/" + "b" * 300])
def test_what_is_no_chain_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_chain(text)


def test_a_model_name_may_hold_slashes() -> None:
    assert parse_ref("router/meta/llama-3:free") == ModelRef("router", "meta/llama-3:free")


@pytest.mark.promise("G3")
async def test_a_route_for_nothing_is_refused_and_the_usual_comes_back(office: Office) -> None:
    with pytest.raises(NotFound):
        await office.route("nothing", "claude/claude-test")
    await office.add()
    await office.route("big", "claude/claude-test")
    await office.route("big", None)
    assert (await office.ask()).offline


@pytest.mark.promise("G3", "B8")
async def test_a_plan_limits_the_tier_from_the_next_call_on(office: Office) -> None:
    await office.add()
    await office.route("big", "claude/claude-test")
    await office.route("small", "claude/claude-small-test")
    async with office.gaby.database.write(office.acme) as session:
        await office.gaby.usage.budgets.set_plan(session, ACTOR, PlanName.FREE)
    office.vendors.say(GOOD)
    result = await office.ask()
    assert (result.source, result.tier) == ("claude/claude-small-test", Tier.SMALL)


@pytest.mark.promise("G7")
async def test_an_agreed_price_beats_the_list_and_an_unknown_model_costs_nobody_knows_what(office: Office) -> None:
    await office.add()
    await office.route("big", "claude/claude-test")
    office.vendors.say(GOOD, GOOD)
    assert (await office.ask()).nano_usd is None
    async with office.gaby.database.write(office.acme) as session:
        price = Price(Decimal(2), Decimal(10), Decimal(0), Decimal(0))
        await office.gaby.models.accounts.agree_price(session, ACTOR, parse_ref("claude/claude-test"), price)
    result = await office.ask()
    expected = 2000 * result.usage.input + 10_000 * result.usage.output
    assert result.nano_usd == expected > 0
    assert [row.cost_nano_usd for row in await office.calls() if row.provider == "claude"] == [None, expected]


@pytest.mark.parametrize("usd", ["-1", "NaN", "Infinity", "1e12"])
async def test_an_absurd_price_is_refused(office: Office, usd: str) -> None:
    async with office.gaby.database.write(office.acme) as session:
        price = Price(Decimal(usd), Decimal(0), Decimal(0), Decimal(0))
        with pytest.raises(Invalid):
            await office.gaby.models.accounts.agree_price(session, ACTOR, parse_ref("claude/x"), price)


async def test_a_model_can_be_tried_and_stands_in_the_ledger(office: Office) -> None:
    await office.add()
    await office.route("big", "claude/claude-test")
    actor = system_actor("test", office.acme)
    [probed] = await office.gaby.models.probe(actor)
    assert (probed.model, probed.answers, probed.message) == ("claude/claude-test", True, "Fine.")
    [missing] = await office.gaby.models.probe(actor, [parse_ref("nobody/nothing")])
    assert not missing.answers
    assert [row.skill for row in await office.calls()] == ["model-test"]


@pytest.mark.promise("G9")
async def test_vectors_come_from_one_model(office: Office) -> None:
    with pytest.raises(Invalid):
        await office.route(EMBEDDINGS, "local/wordllama, local/minilm")


@pytest.mark.promise("G9", "G6")
async def test_a_vendors_vectors_are_in_the_ledger_and_asked_for_once(office: Office) -> None:
    await office.add("mine", "openai")
    await office.route(EMBEDDINGS, "mine/embed-test")
    first = await office.gaby.models.embeddings.embed(office.acme, ["a scale", "a feather", "a scale"])
    again = await office.gaby.models.embeddings.embed(office.acme, ["a feather"])
    assert first.shape[0] == 3
    assert (again[0] == first[1]).all()
    assert len(office.vendors.requests) == 1
    [call] = await office.calls()
    [bill] = office.vendors.billed
    assert (call.skill, call.state, call.input_tokens) == (EMBEDDINGS, "done", bill.input)


@pytest.mark.promise("G9", "B8")
async def test_indexing_is_no_task_of_the_plan_and_not_bound_by_a_tickets_budget(office: Office) -> None:
    await office.add("mine", "openai")
    await office.route(EMBEDDINGS, "mine/embed-test")
    async with office.gaby.database.write(office.acme) as session:
        await office.gaby.usage.budgets.change(session, ACTOR, LimitChange(run_tokens=1))
    await office.gaby.models.embeddings.embed(office.acme, ["a scale " * 50, "a feather"])
    async with office.gaby.database.read(office.acme) as session:
        counts = await session.scalars(select(UsageCounter).where(UsageCounter.workspace_id == office.acme))
        assert {count.span: (count.runs, count.held_tokens) for count in counts} == {"day": (0, 0), "month": (0, 0)}


@pytest.mark.promise("G6", "G9")
async def test_indexing_that_is_cancelled_leaves_nothing_held(office: Office) -> None:
    await office.add("mine", "openai")
    await office.route(EMBEDDINGS, "mine/embed-test")
    for turns in range(12):
        asking = asyncio.create_task(office.gaby.models.embeddings.embed(office.acme, [f"text {turns}"]))
        for _ in range(turns * 3):
            await asyncio.sleep(0)
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
    assert [row.state for row in await office.calls() if row.state == "held"] == []


@pytest.mark.promise("G4")
async def test_an_account_that_lacks_its_package_does_not_take_the_others_down(office: Office) -> None:
    await office.add()
    async with office.gaby.database.write(office.acme) as session:
        await office.gaby.models.accounts.add(session, ACTOR, NewAccount("lite", "litellm", key="sk-1"))
    await office.route("big", "lite/some-model, claude/claude-test")
    office.vendors.say(GOOD)
    assert (await office.ask()).source == "claude/claude-test"
    states = {str(state.ref): state.usable for state in await office.gaby.models.states(office.acme)}
    assert (states["lite/some-model"], states["claude/claude-test"]) == (False, True)


@pytest.mark.promise("G3")
async def test_a_route_to_an_account_that_is_not_there_is_refused(office: Office) -> None:
    for name, chain in (("big", "antropic/claude-test"), ("big", "local/wordllama"), (EMBEDDINGS, "nobody/vectors")):
        with pytest.raises(Invalid, match="gaby model add"):
            await office.route(name, chain)


async def test_many_at_once_open_one_account_once(office: Office) -> None:
    await office.add()
    await office.route("big", "claude/claude-test")
    found = await asyncio.gather(*(office.gaby.models.setups.for_workspace(office.acme) for _ in range(8)))
    assert len({id(setup.links[parse_ref("claude/claude-test")].provider) for setup in found}) == 1
