"""Keycloak: people and sessions, with tokens that run out and a client that is no longer welcome."""

from typing import Any

import pytest
from pydantic import SecretStr

from gaby_connectors.keycloak.config import KeycloakConfig
from gaby_connectors.keycloak.tools import connector
from gaby_connectors.sdk.manifest import ErrorKind
from tests.connectors.talk import talking
from tests.support.keycloak import CLIENT_SECRET, Keycloak

pytestmark = [pytest.mark.promise("M6", "M9"), pytest.mark.xdist_group("keycloak")]


def config(keycloak: Keycloak, **changes: Any) -> KeycloakConfig:
    settings: dict[str, Any] = {
        "url": keycloak.url,
        "realm": "acme",
        "client_id": "gaby",
        "client_secret": SecretStr(CLIENT_SECRET),
    }
    return KeycloakConfig(**settings | changes)


async def test_people_and_their_sessions_are_shown(keycloak: Keycloak) -> None:
    async with talking(connector, config(keycloak)) as talk:
        (ada,) = (await talk.ask("find_users", query="ada@acme.example"))["users"]
        assert (ada["id"], ada["first_name"], ada["enabled"]) == ("u-1", "Ada", True)
        assert (await talk.ask("get_user", user_id="u-1"))["user"]["locked_by_wrong_passwords"] is True
        sessions = (await talk.ask("list_sessions", user_id="u-1"))["sessions"]
        assert [session["clients"] for session in sessions] == [["shop"], ["shop"]]
        assert (await talk.fails("get_user", user_id="u-9")).kind == ErrorKind.NOT_FOUND
        assert keycloak.granted == 1


async def test_an_expired_token_is_renewed_without_anybody_noticing(keycloak: Keycloak) -> None:
    async with talking(connector, config(keycloak)) as talk:
        await talk.ask("healthcheck")
        keycloak.expire_tokens()
        await talk.ask("healthcheck")
        assert keycloak.granted == 2


async def test_a_token_is_renewed_before_it_runs_out(keycloak: Keycloak) -> None:
    keycloak.seconds = 0
    async with talking(connector, config(keycloak)) as talk:
        assert "2 users" in (await talk.ask("healthcheck"))["detail"]


async def test_a_client_whose_secret_is_no_longer_valid_is_told_so(keycloak: Keycloak) -> None:
    async with talking(connector, config(keycloak)) as talk:
        await talk.ask("healthcheck")
        keycloak.secret = "rotated"
        keycloak.expire_tokens()
        error = await talk.fails("find_users", query="ada")
        assert error.kind == ErrorKind.AUTH_EXPIRED
        assert CLIENT_SECRET not in error.message


async def test_everybody_is_signed_out_and_mail_is_sent_only_for_real(keycloak: Keycloak) -> None:
    async with talking(connector, config(keycloak)) as talk:
        assert (await talk.ask("logout_sessions", user_id="u-1", dry_run=True))["sessions"] == 2
        await talk.ask("send_actions_email", user_id="u-1", dry_run=True)
        await talk.ask("clear_login_failures", user_id="u-1", dry_run=True)
        assert (keycloak.sessions["u-1"], keycloak.mails, keycloak.locked) == (2, [], {"u-1"})
        await talk.ask("logout_sessions", user_id="u-1", idempotency_key="k1")
        for _ in range(2):
            await talk.ask("send_actions_email", user_id="u-1", idempotency_key="k2")
        assert (await talk.ask("clear_login_failures", user_id="u-1"))["was_locked"] is True
        assert (keycloak.sessions["u-1"], keycloak.mails) == (0, [("u-1", ["UPDATE_PASSWORD"])])
        assert keycloak.locked == set()


async def test_a_person_is_disabled_and_enabled(keycloak: Keycloak) -> None:
    async with talking(connector, config(keycloak)) as talk:
        assert (await talk.manifest("disable_user")).dangerous
        assert (await talk.manifest("enable_user")).dangerous
        await talk.ask("disable_user", user_id="u-1", dry_run=True)
        assert keycloak.people["u-1"]["enabled"] is True
        switched = await talk.ask("disable_user", user_id="u-1")
        assert (switched["before"], switched["enabled"]) == (True, False)
        assert keycloak.people["u-1"]["enabled"] is False
        await talk.ask("enable_user", user_id="u-1")
        assert keycloak.people["u-1"]["enabled"] is True


async def test_a_server_in_trouble_says_when_to_come_back(keycloak: Keycloak) -> None:
    keycloak.failing = 1
    async with talking(connector, config(keycloak)) as talk:
        error = await talk.fails("healthcheck")
        assert (error.kind, error.retry_after) == (ErrorKind.TRANSIENT, 7)
        assert (await talk.ask("healthcheck"))["ok"] is True


@pytest.mark.parametrize("user_id", ["../u-1", "u-1/logout", "", "u 1", "u-1?x=1"])
async def test_an_id_cannot_lead_elsewhere(keycloak: Keycloak, user_id: str) -> None:
    async with talking(connector, config(keycloak)) as talk:
        assert (await talk.fails("get_user", user_id=user_id)).kind == ErrorKind.INVALID
