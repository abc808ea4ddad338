"""Who may do what, for every route and every role. A route that is not in the table fails."""

import pytest

from gaby.identity import Role
from gaby.kernel.actors import Permission
from tests.api.routes import Endpoint, endpoints
from tests.api.scenes import bodies, make_things
from tests.support.app_client import World

# Whoever may do something may do it on either engine; what each engine keeps apart is shown elsewhere.
pytestmark = [pytest.mark.promise("P3"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]

PUBLIC = {
    "POST /api/session",
    "GET /api/openapi.json",
    # Signed, and checked by the desk's adapter.
    "GET /api/webhooks/desks/{desk_id}",
    "POST /api/webhooks/desks/{desk_id}",
}
OUTSIDE = {"GET /", "GET /livez", "GET /readyz", "GET /metrics", "GET /setup", "POST /setup", "GET /join", "POST /join"}
OWN_SIGN_IN = {
    "GET /api/session",
    "DELETE /api/session",
    "POST /api/session/workspace",
    "POST /api/session/password",
    "GET /api/sign-ins",
    "DELETE /api/sign-ins",
    "DELETE /api/sign-ins/{sign_in_id}",
}
GIVE_A_ROLE = {"POST /api/people", "PATCH /api/people/{person_id}", "DELETE /api/people/{person_id}"}
NO_BODY = {
    "PUT /api/groups/{group_id}/members/{person_id}",
    "POST /api/connectors/{connector_id}/look",
    "POST /api/knowledge/sources/{source_id}/sync",
    "POST /api/desks/{desk_id}/poll",
    "POST /api/runs/{run_id}/resume",
    "POST /api/tickets/{ticket_id}/close",
    "POST /api/tickets/{ticket_id}/investigate",
    "POST /api/webhooks/desks/{desk_id}",
}
NEEDS = {
    "GET /api/tickets": Permission.TICKETS_READ,
    "POST /api/tickets": Permission.TICKETS_WORK,
    "POST /api/instructions": Permission.APPROVALS_DECIDE,
    "GET /api/tickets/{ticket_id}": Permission.TICKETS_READ,
    "GET /api/tickets/{ticket_id}/original": Permission.TICKETS_WORK,
    "POST /api/tickets/{ticket_id}/messages": Permission.TICKETS_WORK,
    "POST /api/tickets/{ticket_id}/close": Permission.TICKETS_WORK,
    "POST /api/tickets/{ticket_id}/investigate": Permission.TICKETS_WORK,
    "GET /api/desks": Permission.TICKETS_READ,
    "POST /api/desks": Permission.DESKS_MANAGE,
    "GET /api/desks/{desk_id}": Permission.TICKETS_READ,
    "PATCH /api/desks/{desk_id}": Permission.DESKS_MANAGE,
    "DELETE /api/desks/{desk_id}": Permission.DESKS_MANAGE,
    "POST /api/desks/{desk_id}/poll": Permission.DESKS_MANAGE,
    "GET /api/desks/{desk_id}/letters": Permission.TICKETS_READ,
    "GET /api/runs": Permission.TICKETS_READ,
    "GET /api/runs/{run_id}": Permission.TICKETS_READ,
    "GET /api/runs/{run_id}/events": Permission.TICKETS_READ,
    "GET /api/runs/{run_id}/calls": Permission.TICKETS_WORK,
    "GET /api/runs/{run_id}/calls/{call_id}": Permission.TICKETS_WORK,
    "PUT /api/tickets/{ticket_id}/rating": Permission.TICKETS_WORK,
    "POST /api/runs/{run_id}/halt": Permission.TICKETS_WORK,
    "POST /api/runs/{run_id}/resume": Permission.TICKETS_WORK,
    "GET /api/queue": Permission.TICKETS_READ,
    "GET /api/agent": Permission.TICKETS_READ,
    "PATCH /api/agent": Permission.DESKS_MANAGE,
    "PUT /api/agent/escalation": Permission.DESKS_MANAGE,
    "GET /api/system/checks": Permission.INSTALLATION_MANAGE,
    "POST /api/workspaces": Permission.INSTALLATION_MANAGE,
    "GET /api/runbooks": Permission.KNOWLEDGE_READ,
    "POST /api/runbooks/check": Permission.KNOWLEDGE_READ,
    "POST /api/runbooks/draft": Permission.KNOWLEDGE_READ,
    "GET /api/knowledge/sources": Permission.KNOWLEDGE_READ,
    "POST /api/knowledge/sources": Permission.KNOWLEDGE_MANAGE,
    "GET /api/knowledge/sources/{source_id}": Permission.KNOWLEDGE_READ,
    "PATCH /api/knowledge/sources/{source_id}": Permission.KNOWLEDGE_MANAGE,
    "DELETE /api/knowledge/sources/{source_id}": Permission.KNOWLEDGE_MANAGE,
    "POST /api/knowledge/sources/{source_id}/sync": Permission.KNOWLEDGE_CURATE,
    "GET /api/knowledge/sources/{source_id}/failures": Permission.KNOWLEDGE_READ,
    "GET /api/knowledge/sources/{source_id}/progress": Permission.KNOWLEDGE_READ,
    "POST /api/knowledge/search": Permission.KNOWLEDGE_READ,
    "POST /api/knowledge/ask": Permission.KNOWLEDGE_READ,
    "GET /api/knowledge/documents": Permission.KNOWLEDGE_READ,
    "GET /api/knowledge/documents/{document_id}": Permission.KNOWLEDGE_READ,
    "GET /api/knowledge/citations": Permission.KNOWLEDGE_READ,
    "GET /api/knowledge/candidates": Permission.KNOWLEDGE_READ,
    "POST /api/knowledge/candidates/{candidate_id}/decision": Permission.KNOWLEDGE_CURATE,
    "GET /api/knowledge/gaps": Permission.KNOWLEDGE_READ,
    "DELETE /api/knowledge/gaps/{gap_id}": Permission.KNOWLEDGE_CURATE,
    "GET /api/workspace": Permission.WORKSPACE_READ,
    "PATCH /api/workspace": Permission.WORKSPACE_MANAGE,
    "GET /api/people": Permission.PEOPLE_READ,
    "POST /api/people": Permission.PEOPLE_MANAGE,
    "GET /api/people/{person_id}": Permission.PEOPLE_READ,
    "PATCH /api/people/{person_id}": Permission.PEOPLE_MANAGE,
    "DELETE /api/people/{person_id}": Permission.PEOPLE_MANAGE,
    "GET /api/groups": Permission.PEOPLE_READ,
    "POST /api/groups": Permission.PEOPLE_MANAGE,
    "DELETE /api/groups/{group_id}": Permission.PEOPLE_MANAGE,
    "PUT /api/groups/{group_id}/members/{person_id}": Permission.PEOPLE_MANAGE,
    "DELETE /api/groups/{group_id}/members/{person_id}": Permission.PEOPLE_MANAGE,
    "GET /api/keys": Permission.KEYS_MANAGE,
    "POST /api/keys": Permission.KEYS_MANAGE,
    "DELETE /api/keys/{key_id}": Permission.KEYS_MANAGE,
    "GET /health/connectors": Permission.CONNECTORS_READ,
    "GET /api/connectors": Permission.CONNECTORS_READ,
    "POST /api/connectors": Permission.CONNECTORS_MANAGE,
    "GET /api/connectors/{connector_id}": Permission.CONNECTORS_READ,
    "PATCH /api/connectors/{connector_id}": Permission.CONNECTORS_MANAGE,
    "DELETE /api/connectors/{connector_id}": Permission.CONNECTORS_MANAGE,
    "PUT /api/connectors/{connector_id}/credentials": Permission.CONNECTORS_MANAGE,
    "PUT /api/connectors/{connector_id}/manifest": Permission.CONNECTORS_MANAGE,
    "GET /api/connectors/{connector_id}/draft": Permission.CONNECTORS_READ,
    "POST /api/connectors/{connector_id}/look": Permission.CONNECTORS_MANAGE,
    "GET /api/connectors/{connector_id}/changes": Permission.CONNECTORS_READ,
    "POST /api/connectors/{connector_id}/accept": Permission.CONNECTORS_MANAGE,
    "GET /api/connectors/{connector_id}/log": Permission.CONNECTORS_MANAGE,
    "PUT /api/connectors/{connector_id}/kill-switch": Permission.TOOLS_STOP,
    "DELETE /api/connectors/{connector_id}/kill-switch": Permission.CONNECTORS_MANAGE,
    "GET /api/kill-switches": Permission.CONNECTORS_READ,
    "PUT /api/kill-switch": Permission.TOOLS_STOP,
    "DELETE /api/kill-switch": Permission.CONNECTORS_MANAGE,
    "PUT /api/system/kill-switch": Permission.INSTALLATION_MANAGE,
    "DELETE /api/system/kill-switch": Permission.INSTALLATION_MANAGE,
    "GET /api/tools": Permission.CONNECTORS_READ,
    "POST /api/tools/explain": Permission.CONNECTORS_READ,
    "GET /api/models": Permission.MODELS_READ,
    "POST /api/models/test": Permission.MODELS_MANAGE,
    "GET /api/models/accounts": Permission.MODELS_READ,
    "POST /api/models/accounts": Permission.MODELS_MANAGE,
    "PUT /api/models/accounts/{account_id}/key": Permission.MODELS_MANAGE,
    "DELETE /api/models/accounts/{account_id}": Permission.MODELS_MANAGE,
    "GET /api/models/routes": Permission.MODELS_READ,
    "PUT /api/models/routes": Permission.MODELS_MANAGE,
    "PUT /api/models/prices": Permission.MODELS_MANAGE,
    "GET /api/skills": Permission.MODELS_READ,
    "GET /api/usage": Permission.USAGE_READ,
    "GET /api/usage/calls": Permission.USAGE_READ,
    "GET /api/usage/limits": Permission.USAGE_READ,
    "PATCH /api/usage/limits": Permission.MODELS_MANAGE,
    "PUT /api/usage/plan": Permission.INSTALLATION_MANAGE,
    "GET /api/approvals": Permission.APPROVALS_DECIDE,
    "GET /api/approvals/{approval_id}": Permission.APPROVALS_DECIDE,
    "POST /api/approvals/{approval_id}/decision": Permission.APPROVALS_DECIDE,
    "GET /api/audit/rows": Permission.AUDIT_READ,
    "GET /api/audit/rows/{row_id}/proof": Permission.AUDIT_READ,
    "GET /api/audit/export": Permission.AUDIT_READ,
}
LEAST_ROLE = {
    Permission.WORKSPACE_READ: Role.VIEWER,
    Permission.PEOPLE_READ: Role.VIEWER,
    Permission.PEOPLE_MANAGE: Role.ADMIN,
    Permission.KEYS_MANAGE: Role.ADMIN,
    Permission.AUDIT_READ: Role.ADMIN,
    Permission.WORKSPACE_MANAGE: Role.ADMIN,
    Permission.CONNECTORS_READ: Role.VIEWER,
    Permission.MODELS_READ: Role.VIEWER,
    Permission.MODELS_MANAGE: Role.ADMIN,
    Permission.USAGE_READ: Role.VIEWER,
    Permission.KNOWLEDGE_READ: Role.VIEWER,
    Permission.KNOWLEDGE_CURATE: Role.CURATOR,
    Permission.KNOWLEDGE_MANAGE: Role.ADMIN,
    Permission.TICKETS_READ: Role.VIEWER,
    Permission.TICKETS_WORK: Role.OPERATOR,
    Permission.DESKS_MANAGE: Role.ADMIN,
    Permission.APPROVALS_DECIDE: Role.OPERATOR,
    Permission.TOOLS_STOP: Role.OPERATOR,
    Permission.CONNECTORS_MANAGE: Role.ADMIN,
}


def test_every_route_is_in_the_table_and_every_api_route_asks_who(world: World) -> None:
    found = endpoints(world.app)
    assert {each.name for each in found} == PUBLIC | OUTSIDE | OWN_SIGN_IN | set(NEEDS)
    for endpoint in found:
        assert endpoint.knows_the_actor == (endpoint.name not in PUBLIC | OUTSIDE), endpoint.name
    assert {each.name for each in found if each.method in {"POST", "PATCH", "PUT"}} - OUTSIDE - NO_BODY == set(
        bodies(world.gaby.ids.new(), "x")
    )


def guarded(world: World) -> list[Endpoint]:
    return [each for each in endpoints(world.app) if each.knows_the_actor]


async def test_nobody_in_particular_may_do_nothing(world: World) -> None:
    acme = await world.workspace("acme")
    things = await make_things(world, acme, "thing")
    sample = bodies(acme, "nobody")
    for who in ({}, {"Cookie": "gaby_session=guess"}, {"Authorization": "Bearer guess"}):
        async with world.client(headers=who) as client:
            for endpoint in guarded(world):
                answer = await client.request(
                    endpoint.method, endpoint.at(**things.ids), json=sample.get(endpoint.name)
                )
                by_cookie = "Cookie" in who and endpoint.method != "GET"
                assert answer.status_code == (403 if by_cookie else 401), endpoint.name


@pytest.mark.slow
async def test_each_role_may_do_what_the_table_says(world: World) -> None:
    acme = await world.workspace("acme")
    await world.person("ada@acme.example", (acme, Role.OWNER))
    people = {role: await world.person(f"{role}@acme.example", (acme, role)) for role in Role}
    for role, person_id in people.items():
        browser = await world.enter(person_id)
        things = await make_things(world, acme, f"{role}-things", of=browser)
        for number, endpoint in enumerate(guarded(world)):
            label = f"{role}-{number}"
            least = Role.VIEWER if endpoint.name in OWN_SIGN_IN else LEAST_ROLE.get(NEEDS[endpoint.name])
            may = least is not None and role.rank >= least.rank
            if endpoint.method == "DELETE" and may:
                # What was there may be gone, and so may the sign-in itself.
                browser = await world.enter(person_id)
                things = await make_things(world, acme, label, of=browser)
            answer = await browser.send(
                endpoint.method, endpoint.at(**things.ids), bodies(acme, label).get(endpoint.name)
            )
            assert answer.is_success == may, (role, endpoint.name, answer.text)
            assert may or answer.status_code == 403, (role, endpoint.name)


async def test_a_key_needs_the_one_scope_that_the_table_says(world: World) -> None:
    acme = await world.workspace("acme")
    keys = {scope: await world.key(acme, scope) for scope in Permission}
    without = {scope: await world.key(acme, *set(Permission) - {scope}) for scope in Permission}
    things = await make_things(world, acme, "thing")
    for number, endpoint in enumerate(guarded(world)):
        if endpoint.method == "DELETE":
            things = await make_things(world, acme, f"thing-{number}")
        path, body = endpoint.at(**things.ids), bodies(acme, f"key-{number}").get(endpoint.name)
        scope = NEEDS.get(endpoint.name)
        if scope is None:
            async with world.program(await world.key(acme, *Permission)) as program:
                assert (await program.request(endpoint.method, path, json=body)).status_code == 401, endpoint.name
            continue
        if endpoint.name == "POST /api/keys":
            body = {"name": "x", "scopes": ["keys:manage"]}
        async with world.program(without[scope]) as program:
            refused = await program.request(endpoint.method, path, json=body)
            assert refused.status_code == 403, endpoint.name
            assert scope in refused.json()["detail"]
        # Whoever gives or takes a role must hold all that it holds.
        enough = await world.key(acme, *Role.ADMIN.permissions) if endpoint.name in GIVE_A_ROLE else keys[scope]
        async with world.program(enough) as program:
            assert (await program.request(endpoint.method, path, json=body)).is_success, endpoint.name


async def test_who_belongs_nowhere_may_only_look_at_themselves(world: World) -> None:
    acme = await world.workspace("acme")
    nobody = await world.enter(await world.person("nobody@acme.example"))
    things = await make_things(world, acme, "thing")
    sample = bodies(acme, "nobody")
    for endpoint in guarded(world):
        if endpoint.name in NEEDS:
            answer = await nobody.send(endpoint.method, endpoint.at(**things.ids), sample.get(endpoint.name))
            assert answer.status_code == 403, endpoint.name
    assert (await nobody.send("POST", "/api/session/workspace", {"workspace_id": str(acme)})).status_code == 404
