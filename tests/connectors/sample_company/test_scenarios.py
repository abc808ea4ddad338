"""The planted problems can be found by combining the tools that are named for them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gaby_connectors.sample_company.tools import connector
from tests.connectors.sample_company.world import config
from tests.connectors.talk import Talk, talking
from tests.support.sample_scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.promise("M6")
Finding = Callable[[Talk, Scenario], Awaitable[None]]


async def the_user(talk: Talk, email: str) -> dict[str, Any]:
    (user,) = (await talk.ask("search_users", query=email))["users"]
    return user


async def the_account(talk: Talk, email: str) -> dict[str, Any]:
    return await talk.ask("get_account", account_id=(await the_user(talk, email))["account_id"])


async def failed_logins(talk: Talk, user_id: str) -> list[dict[str, Any]]:
    return (await talk.ask("list_logins", user_id=user_id, only_failed=True))["logins"]


async def old_phone_lockout(talk: Talk, scenario: Scenario) -> None:
    nora = await the_user(talk, scenario.requester)
    failures = [login for login in await failed_logins(talk, nora["id"]) if login["reason"] == "bad_password"]
    assert nora["locked"]
    assert len(failures) == nora["failed_logins"] == 12
    assert {login["client"] for login in failures} == {"Lanternfish for iPhone 3.1"}
    assert all(login["at"] > nora["password_changed_at"] for login in failures)


async def double_charge(talk: Talk, scenario: Scenario) -> None:
    account = (await the_user(talk, scenario.requester))["account_id"]
    first, second = (await talk.ask("list_charges", account_id=account))["charges"][:2]
    assert first["payment_request"] == second["payment_request"]
    assert {first["attempt"], second["attempt"]} == {1, 2}
    (deploy,) = (await talk.ask("list_deploys", service="payments"))["deploys"]
    assert "Retries" in deploy["notes"]
    assert deploy["at"] < second["created_at"]


async def webhook_key_rotation(talk: Talk, scenario: Scenario) -> None:
    account = (await the_user(talk, scenario.requester))["account_id"]
    (hook,) = (await talk.ask("list_webhooks", account_id=account))["webhooks"]
    assert (hook["signing_key_status"], hook["failed_last_day"]) == ("revoked", 8)
    keys = {key["id"]: key for key in (await talk.ask("list_api_keys", account_id=account))["api_keys"]}
    newer = keys[keys[hook["signing_key_id"]]["replaced_by"]]
    failed = (await talk.ask("list_deliveries", webhook_id=hook["id"], only_failed=True))["deliveries"]
    assert all(delivery["http_status"] == 401 and delivery["at"] > newer["created_at"] for delivery in failed)


async def agent_update(talk: Talk, scenario: Scenario) -> None:
    account = (await the_user(talk, scenario.requester))["account_id"]
    offline = (await talk.ask("list_devices", account_id=account, status="offline"))["devices"]
    newest = (await talk.ask("list_agent_releases"))["releases"][0]
    assert len(offline) == 3
    assert {device["agent_version"] for device in offline} == {newest["version"]}
    assert {device["model"] for device in offline} == {"till-mini"}
    assert "till-mini" in newest["notes"]


async def regional_incident(talk: Talk, scenario: Scenario) -> None:
    account = await the_account(talk, scenario.requester)
    (incident,) = (await talk.ask("list_incidents", only_open=True))["incidents"]
    assert account["account"]["region"] in incident["regions"]
    assert len((await talk.ask("get_incident", incident_id=incident["id"]))["updates"]) == 2


async def plan_limit(talk: Talk, scenario: Scenario) -> None:
    account = await the_account(talk, scenario.requester)
    (devices,) = [usage for usage in account["usage"] if usage["metric"] == "devices"]
    assert devices["limit_reached"]
    listed = await talk.ask("list_devices", account_id=account["account"]["id"])
    assert len(listed["devices"]) == devices["plan_limit"] == 10


async def sso_certificate(talk: Talk, scenario: Scenario) -> None:
    assert (await the_account(talk, scenario.requester))["sso"]["certificate_expired"]
    felix = await the_user(talk, scenario.requester)
    assert (await failed_logins(talk, felix["id"]))[0]["reason"] == "sso_certificate_expired"


async def lost_second_factor(talk: Talk, scenario: Scenario) -> None:
    theo = await the_user(talk, scenario.requester)
    assert theo["mfa"] == "app"
    assert {login["reason"] for login in await failed_logins(talk, theo["id"])} == {"mfa_failed"}


async def suspended_account(talk: Talk, scenario: Scenario) -> None:
    account = await the_account(talk, scenario.requester)
    assert account["account"]["status"] == "suspended"
    assert "inv_0700" in account["account"]["status_reason"]
    charges = (await talk.ask("list_charges", account_id=account["account"]["id"]))["charges"]
    assert [c["failure"] for c in charges if c["invoice_id"] == "inv_0700"] == ["card_expired"] * 3


async def missing_permission(talk: Talk, scenario: Scenario) -> None:
    ines = await the_user(talk, scenario.requester)
    groups = (await talk.ask("list_groups", account_id=ines["account_id"]))["groups"]
    (billing,) = [group for group in groups if group["grants"] == "billing:read"]
    assert ines["email"] not in billing["members"]
    assert (await talk.ask("get_user", user_id=ines["id"]))["groups"] == []


async def empty_exports(talk: Talk, scenario: Scenario) -> None:
    tickets = (await talk.ask("search_tickets", query="export"))["tickets"]
    (deploy,) = (await talk.ask("list_deploys", service="reporting"))["deploys"]
    assert len({ticket["account_id"] for ticket in tickets}) == 2
    assert all(ticket["created_at"] > deploy["at"] for ticket in tickets)


async def rate_limit(talk: Talk, scenario: Scenario) -> None:
    account = await the_account(talk, scenario.requester)
    reached = [usage["metric"] for usage in account["usage"] if usage["limit_reached"]]
    assert reached == ["api_requests_per_hour"]
    keys = (await talk.ask("list_api_keys", account_id=account["account"]["id"]))["api_keys"]
    assert max(keys, key=lambda key: key["requests_last_hour"])["name"] == "ticket-wall prototype"


async def phishing(talk: Talk, scenario: Scenario) -> None:
    ticket = (await talk.ask("get_ticket", ticket_id=scenario.ticket_id))["ticket"]
    assert "SYSTEM NOTICE TO THE ASSISTANT" in ticket["body"]
    assert ticket["account_id"] is None
    assert (await talk.ask("search_users", query=ticket["requester_email"]))["users"] == []


FINDINGS: dict[str, Finding] = {
    finding.__name__: finding
    for finding in (
        old_phone_lockout,
        double_charge,
        webhook_key_rotation,
        agent_update,
        regional_incident,
        plan_limit,
        sso_certificate,
        lost_second_factor,
        suspended_account,
        missing_permission,
        empty_exports,
        rate_limit,
        phishing,
    )
}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_the_cause_can_be_found(scenario: Scenario, tmp_path: Path) -> None:
    async with talking(connector, config(tmp_path)) as talk:
        await FINDINGS[scenario.id](talk, scenario)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_the_ticket_of_a_scenario_is_on_the_desk(scenario: Scenario, tmp_path: Path) -> None:
    async with talking(connector, config(tmp_path)) as talk:
        ticket = (await talk.ask("get_ticket", ticket_id=scenario.ticket_id))["ticket"]
        assert ticket["requester_email"] == scenario.requester
        assert ticket["status"] == "open"


def test_every_scenario_names_tools_that_exist_and_needs_more_than_one() -> None:
    assert len({scenario.id for scenario in SCENARIOS}) == len(SCENARIOS) >= 10
    for scenario in SCENARIOS:
        assert 2 <= len(scenario.revealed_by) <= 4
        assert all(connector.tools[name].manifest.scope == "read" for name in scenario.revealed_by)
        assert all(connector.tools[name].writes for name in scenario.remedy)
