"""LDAP: people are found whatever their names look like, and a new password is never told."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gaby_connectors.ldap.config import LdapConfig
from gaby_connectors.ldap.tools import connector
from gaby_connectors.sdk.manifest import ErrorKind
from tests.connectors.talk import talking
from tests.support.slapd import ADMIN, BASE, PASSWORD, Slapd

pytestmark = [pytest.mark.promise("M6"), pytest.mark.xdist_group("slapd")]
ADA = f"uid=ada,ou=people,{BASE}"
LINUS = f"uid=linus,ou=people,{BASE}"


def config(slapd: Slapd, **changes: Any) -> LdapConfig:
    settings: dict[str, Any] = {
        "url": slapd.url,
        "bind_dn": ADMIN,
        "bind_password": SecretStr(PASSWORD),
        "base_dn": BASE,
    }
    return LdapConfig(**settings | changes)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("ada@acme.example", ["ada"]),
        ("ada", ["ada"]),
        ("byron", ["ada"]),
        ("Grace (Amazing) Hopper*", ["grace"]),
        ("**", []),
        ("*)(uid=*", []),
        ("nobody)(|(uid=ada", []),
        ("\\2a", []),
    ],
)
async def test_people_are_found_and_filters_cannot_be_broken(slapd: Slapd, query: str, found: list[str]) -> None:
    async with talking(connector, config(slapd)) as talk:
        assert [user["user_id"] for user in (await talk.ask("find_users", query=query))["users"]] == found


async def test_a_person_and_their_groups_are_shown(slapd: Slapd) -> None:
    async with talking(connector, config(slapd)) as talk:
        ada = (await talk.ask("get_user", user_id="ada"))["user"]
        assert (ada["name"], ada["mail"], ada["locked"]) == ("Ada Byron", "ada@acme.example", False)
        groups = await talk.ask("list_user_groups", user_id="ada")
        assert [group["name"] for group in groups["groups"]] == ["admins", "staff"]
        assert [g["name"] for g in (await talk.ask("list_user_groups", user_id="grace"))["groups"]] == ["unix"]
        assert (await talk.fails("get_user", user_id="a*")).kind == ErrorKind.NOT_FOUND


async def test_a_locked_account_is_seen_and_unlocked(slapd: Slapd) -> None:
    for _ in range(3):
        assert not slapd.sign_in(LINUS, "wrong")
    assert not slapd.sign_in(LINUS, "linus-password")
    async with talking(connector, config(slapd)) as talk:
        linus = (await talk.ask("get_user", user_id="linus"))["user"]
        assert linus["locked"] is True
        dry = await talk.ask("unlock_account", user_id="linus", dry_run=True)
        assert (dry["was_locked"], dry["locked_since"]) == (True, linus["locked_since"])
        assert not slapd.sign_in(LINUS, "linus-password")
        assert (await talk.ask("unlock_account", user_id="linus"))["was_locked"] is True
        assert slapd.sign_in(LINUS, "linus-password")
        assert (await talk.ask("unlock_account", user_id="linus"))["was_locked"] is False


def papers(folder: Path) -> list[tuple[int, str]]:
    """The permissions and the text of every file that was left."""
    return [(path.stat().st_mode & 0o777, path.read_text().strip()) for path in folder.iterdir()]


async def test_a_new_password_goes_to_the_handover_folder_and_nowhere_else(slapd: Slapd, tmp_path: Path) -> None:
    grace = f"uid=grace,ou=people,{BASE}"
    async with talking(connector, config(slapd, handover_folder=tmp_path)) as talk:
        assert (await talk.manifest("reset_password")).dangerous
        await talk.ask("reset_password", user_id="grace", dry_run=True)
        assert slapd.sign_in(grace, "grace-password")
        assert papers(tmp_path) == []
        result = await talk.call("reset_password", user_id="grace")
    ((mode, password),) = papers(tmp_path)
    assert mode == 0o600
    assert slapd.sign_in(grace, password)
    assert not slapd.sign_in(grace, "grace-password")
    assert password not in str(result)
    assert slapd.attributes(grace)["pwdReset"] == [b"TRUE"]


async def test_without_a_handover_folder_nobody_learns_the_new_password(slapd: Slapd) -> None:
    slapd.add(f"uid=ida,ou=people,{BASE}", objectClass="inetOrgPerson", cn="Ida", sn="Ida", userPassword="ida-password")
    async with talking(connector, config(slapd)) as talk:
        told = await talk.ask("reset_password", user_id="ida")
        assert told["handed_over"].startswith("to nobody")
    assert not slapd.sign_in(f"uid=ida,ou=people,{BASE}", "ida-password")


async def test_memberships_are_given_and_taken(slapd: Slapd) -> None:
    async with talking(connector, config(slapd)) as talk:
        for group in ("admins", "unix"):
            arguments = {"user_id": "linus", "group": group}
            assert (await talk.ask("add_to_group", **arguments, dry_run=True))["change"] == "added"
            assert (await talk.ask("list_user_groups", user_id="linus"))["groups"] == []
            assert (await talk.ask("add_to_group", **arguments))["change"] == "added"
            assert (await talk.ask("add_to_group", **arguments))["change"] == "none"
            names = [g["name"] for g in (await talk.ask("list_user_groups", user_id="linus"))["groups"]]
            assert names == [group]
            assert (await talk.ask("remove_from_group", **arguments))["change"] == "removed"
            assert (await talk.ask("remove_from_group", **arguments))["change"] == "none"
        assert (await talk.fails("add_to_group", user_id="linus", group="*")).kind == ErrorKind.NOT_FOUND


async def test_a_connector_that_may_only_read_is_told_so(slapd: Slapd) -> None:
    reader = config(slapd, bind_dn=f"cn=reader,{BASE}", bind_password=SecretStr("reader-pw-1"))
    async with talking(connector, reader) as talk:
        assert (await talk.ask("get_user", user_id="ada"))["user"]["name"] == "Ada Byron"
        error = await talk.fails("add_to_group", user_id="linus", group="admins")
        assert error.kind == ErrorKind.DENIED


async def test_a_wrong_password_asks_for_a_new_one(slapd: Slapd) -> None:
    async with talking(connector, config(slapd, bind_password=SecretStr("no-longer-valid"))) as talk:
        error = await talk.fails("healthcheck")
        assert error.kind == ErrorKind.AUTH_EXPIRED
        assert "no-longer-valid" not in error.message


async def test_a_directory_that_is_gone_is_a_passing_trouble(slapd: Slapd) -> None:
    async with talking(connector, config(slapd, url="ldap://127.0.0.1:9")) as talk:
        assert (await talk.fails("healthcheck")).kind == ErrorKind.TRANSIENT


async def test_the_healthcheck_asks_the_directory_who_we_are(slapd: Slapd) -> None:
    async with talking(connector, config(slapd)) as talk:
        assert ADMIN in (await talk.ask("healthcheck"))["detail"]
        assert ADA in str(await talk.ask("find_users", query="ada"))
