"""The sample company: always the same, honest about what it vouches for, and changed only when asked."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gaby_connectors.sample_company.config import SampleCompanyConfig
from gaby_connectors.sample_company.tools import connector
from gaby_connectors.sdk.config import load
from gaby_connectors.sdk.manifest import Autonomy, ErrorKind, ResultLabel
from tests.connectors.sample_company.world import SAMPLES, config
from tests.connectors.talk import talking

pytestmark = pytest.mark.promise("M6")
WRITES = [name for name, tool in connector.tools.items() if tool.writes]


def everything(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "lanternfish.db")) as db:
        return list(db.iterdump())


async def test_the_same_moment_always_gives_the_same_company(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        async with talking(connector, config(tmp_path / folder)) as talk:
            assert "41 users" in (await talk.ask("healthcheck"))["detail"]
    assert everything(tmp_path / "one") == everything(tmp_path / "two")


async def test_the_company_is_as_it_was_left(tmp_path: Path) -> None:
    async with talking(connector, config(tmp_path)) as talk:
        await talk.ask("unlock_user", user_id="usr_001")
    async with talking(connector, config(tmp_path)) as talk:
        assert (await talk.ask("get_user", user_id="usr_001"))["user"]["locked"] is False


def test_there_are_samples_for_every_tool() -> None:
    assert set(SAMPLES) == set(connector.tools) - {"healthcheck"}


@pytest.mark.parametrize("name", WRITES)
async def test_a_dry_run_changes_nothing(name: str, tmp_path: Path) -> None:
    async with talking(connector, config(tmp_path)) as talk:
        await talk.ask("healthcheck")
        before = everything(tmp_path)
        dry = await talk.ask(name, **SAMPLES[name], dry_run=True, idempotency_key="k1")
        assert dry["dry_run"] is True
        assert everything(tmp_path) == before
        real = await talk.ask(name, **SAMPLES[name], idempotency_key="k1")
        assert {**dry, "dry_run": False} == real
        after = everything(tmp_path)
        assert after != before
        assert await talk.ask(name, **SAMPLES[name], idempotency_key="k1") == real
        assert everything(tmp_path) == after


def test_the_risk_of_every_write_is_told() -> None:
    manifests = {name: connector.tools[name].manifest for name in WRITES}
    dangerous = {name for name, manifest in manifests.items() if manifest.dangerous}
    assert dangerous == {"reset_mfa", "add_user_to_group", "remove_user_from_group", "refund_charge", "delete_user"}
    assert manifests["refund_charge"].steering == ("charge_id", "amount_cents")
    assert manifests["delete_user"].forbidden_in_autonomy == (Autonomy.INVESTIGATE, Autonomy.PROPOSE)
    assert manifests["send_email"].destinations == ("to",)
    assert manifests["add_note"].needs_approval_up_to == Autonomy.INVESTIGATE


def test_what_customers_write_is_never_vouched_for() -> None:
    names = {"name", "email", "subject", "body", "requester_email", "owner_email", "url", "answer", "site", "domain"}
    for tool in connector.tools.values():
        for path, label in tool.manifest.results.items():
            if path.split(".")[-1] in names:
                assert label == ResultLabel.EXTERNAL, (tool.name, path)


async def test_rows_say_whose_they_are(tmp_path: Path) -> None:
    async with talking(connector, config(tmp_path)) as talk:
        for name, tool in connector.tools.items():
            for path, owner in tool.manifest.owner.items():
                found: Any = (await talk.ask(name, **SAMPLES[name]))[path.removesuffix("[]")]
                rows: list[dict[str, Any]] = found if path.endswith("[]") else [found]
                assert rows
                assert all("@" in row[owner] for row in rows), name


async def test_money_is_paid_back_once_and_never_more_than_was_paid(tmp_path: Path) -> None:
    async with talking(connector, config(tmp_path)) as talk:
        refund = {"charge_id": "ch_03002", "amount_cents": 24900, "reason": "charged twice"}
        first = await talk.ask("refund_charge", **refund, idempotency_key="k1")
        assert await talk.ask("refund_charge", **refund, idempotency_key="k1") == first
        error = await talk.fails("refund_charge", **refund, idempotency_key="k2")
        assert error.kind == ErrorKind.INVALID
        assert "only 0 of this charge" in error.message
        failed = {**refund, "charge_id": "ch_07001"}
        assert (await talk.fails("refund_charge", **failed)).kind == ErrorKind.CONFLICT


async def test_after_a_crash_the_company_itself_knows_what_was_done(tmp_path: Path) -> None:
    refund = {"charge_id": "ch_03002", "amount_cents": 100, "reason": "charged twice", "idempotency_key": "k1"}
    async with talking(connector, config(tmp_path), state=tmp_path / "state") as talk:
        done = await talk.ask("refund_charge", **refund)
    # As if the process had died between the effect and remembering it.
    with closing(sqlite3.connect(tmp_path / "state" / "idempotency.db")) as ledger, ledger:
        ledger.execute("UPDATE calls SET result = NULL")
    async with talking(connector, config(tmp_path), state=tmp_path / "state") as talk:
        assert await talk.ask("refund_charge", **refund) == done
        charges = (await talk.ask("list_charges", account_id="acc_03"))["charges"]
        assert [charge["refunded_cents"] for charge in charges if charge["id"] == "ch_03002"] == [100]


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("get_user", {"user_id": "usr_999"}, ErrorKind.NOT_FOUND),
        ("get_user", {"user_id": "1 OR 1=1"}, ErrorKind.INVALID),
        ("search_users", {"query": "x"}, ErrorKind.INVALID),
        ("delete_user", {"user_id": "usr_001"}, ErrorKind.INVALID),
        ("add_user_to_group", {"user_id": "usr_001", "group_id": "grp_021"}, ErrorKind.INVALID),
        ("send_email", {"to": "nobody", "subject": "x", "body": "y"}, ErrorKind.INVALID),
        ("resend_deliveries", {"webhook_id": "whk_999"}, ErrorKind.NOT_FOUND),
    ],
)
async def test_what_cannot_be_is_refused(tmp_path: Path, tool: str, arguments: dict[str, Any], kind: ErrorKind) -> None:
    async with talking(connector, config(tmp_path)) as talk:
        assert (await talk.fails(tool, **arguments)).kind == kind


async def test_a_deleted_user_stays_deleted(tmp_path: Path) -> None:
    async with talking(connector, config(tmp_path)) as talk:
        await talk.ask("delete_user", user_id="usr_004")
        assert (await talk.fails("unlock_user", user_id="usr_004")).kind == ErrorKind.CONFLICT
        assert (await talk.ask("get_user", user_id="usr_004"))["user"]["name"] == "deleted"


def test_time_without_a_zone_is_utc(tmp_path: Path) -> None:
    given = {"SAMPLE_COMPANY_FOLDER": str(tmp_path), "SAMPLE_COMPANY_NOW": "2030-03-04T09:00:00"}
    assert load(SampleCompanyConfig, given) == config(tmp_path)
