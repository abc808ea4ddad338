"""Drafts of manifests and audiences of knowledge sources over HTTP."""

import pytest

from gaby.identity import Role
from gaby.kernel.actors import system_actor
from gaby.mcp import read_definitions
from gaby.tools.setup import bundled
from tests.support.app_client import Browser, World

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
SHOWN = read_definitions(
    [
        {"name": "search", "description": "Search the archive.", "inputSchema": SCHEMA},
        {"name": "publish", "description": "Publish a text.", "inputSchema": SCHEMA},
    ]
)


async def admin_of(world: World) -> tuple[Browser, str]:
    """With a connector whose server has no manifest."""
    acme = await world.workspace("acme")
    actor, connectors = system_actor("test", acme), world.gaby.tools.connectors
    async with world.gaby.database.write(acme) as session:
        row = await connectors.add(session, actor, bundled("archive", "time", {}))
        await connectors.observe(session, actor, "archive", SHOWN)
    ada = await world.enter(await world.person("ada@acme.example", (acme, Role.ADMIN)))
    return ada, f"/api/connectors/{row.id}"


@pytest.mark.promise("S16")
async def test_a_draft_is_fetched_edited_and_sent_back(world: World) -> None:
    ada, path = await admin_of(world)
    assert len((await ada.get(f"{path}/draft")).json()["tools"]) == 2
    assert (await ada.send("POST", f"{path}/accept", {"fingerprint": SHOWN.fingerprint})).status_code == 200
    draft = (await ada.get(f"{path}/draft")).json()
    assert draft["fingerprint"] == SHOWN.fingerprint
    assert {each["name"]: each["lane"] for each in draft["tools"]} == {"search": "read", "publish": "write"}
    assert draft["tools"][1]["arguments"]["text"]["role"] == "content"
    misspelt = draft["yaml"].replace("  search:", "  serach:")
    refused = await ada.send("PUT", f"{path}/manifest", {"yaml": misspelt})
    assert refused.status_code == 422
    line = misspelt.splitlines().index("  serach:") + 1
    assert [(each["line"], each["where"]) for each in refused.json()["errors"]] == [(line, "tools.serach")]
    assert (await ada.send("PUT", f"{path}/manifest", {"yaml": draft["yaml"]})).status_code == 200
    assert (await ada.get(f"{path}/draft")).json()["tools"] == []


@pytest.mark.promise("S14")
async def test_an_audience_is_set_and_changed_and_the_rest_stays(world: World) -> None:
    ada, _ = await admin_of(world)
    new = {"name": "help", "kind": "url", "location": "https://help.example/", "every_seconds": 3600}
    made = (await ada.send("POST", "/api/knowledge/sources", new)).json()
    assert made["audience"] == "staff"
    named = {**new, "name": "guide", "audience": "customers"}
    assert (await ada.send("POST", "/api/knowledge/sources", named)).json()["audience"] == "customers"
    path = f"/api/knowledge/sources/{made['id']}"
    changed = (await ada.send("PATCH", path, {"audience": "public"})).json()
    assert (changed["audience"], changed["every_seconds"]) == ("public", 3600)
    unscheduled = (await ada.send("PATCH", path, {"every_seconds": None})).json()
    assert (unscheduled["audience"], unscheduled["every_seconds"]) == ("public", None)
    for wrong in ({}, {"audience": None}, {"audience": "everybody"}, {"audience": "public", "x": 1}):
        assert (await ada.send("PATCH", path, wrong)).status_code == 422
    assert (await ada.get(path)).json()["audience"] == "public"
