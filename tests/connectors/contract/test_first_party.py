"""Every connector that comes with Gaby keeps the whole contract, as a process, against the real system behind it.

With every commit the sample company and a new connector from the scaffold are examined, the others by
`make test-exhaustive`; their own tests run with every commit.
"""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gaby_connectors.contract import ReportCard, SampleArguments, StdioTarget, check
from gaby_connectors.contract.samples import LargeResultSample
from gaby_connectors.scaffold import create
from tests.connectors.sample_company.world import SAMPLES
from tests.support.keycloak import CLIENT_SECRET, Keycloak
from tests.support.postgres import Postgres
from tests.support.prometheus import PrometheusServer
from tests.support.slapd import ADMIN, BASE, PASSWORD, Slapd
from tests.support.valkey import Valkey

pytestmark = [pytest.mark.promise("M5", "M6"), pytest.mark.slow]
MAY_BE_MISSING = {"large_results", "dry_run", "idempotent_retry"}


async def examined(
    name: str,
    tmp_path: Path,
    env: dict[str, str],
    tools: dict[str, dict[str, Any]],
    large: LargeResultSample | None = None,
) -> ReportCard:
    environment = {"PATH": os.environ["PATH"], "GABY_CONNECTOR_STATE": str(tmp_path / "state"), **env}
    target = StdioTarget([sys.executable, "-m", f"gaby_connectors.{name}"], environment)
    # How fast it starts is measured in the benchmarks; here other tests run beside it.
    card = await check(target, samples=SampleArguments(tools=tools, large=large), writes=True, start_within=60)
    assert card.failures == ()
    assert {finding.rule for finding in card.findings if finding.verdict == "not applicable"} <= MAY_BE_MISSING
    return card


@pytest.mark.exhaustive
async def test_time(tmp_path: Path) -> None:
    await examined("time", tmp_path, {}, {})


async def test_sample_company(tmp_path: Path) -> None:
    env = {"SAMPLE_COMPANY_FOLDER": str(tmp_path), "SAMPLE_COMPANY_NOW": "2030-03-04T09:00:00+00:00"}
    card = await examined("sample_company", tmp_path, env, SAMPLES)
    assert card.finding("idempotent_retry").detail == "10 writes tried"


@pytest.mark.exhaustive
async def test_filesystem(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "many").mkdir()
    for number in range(1000):
        (folder / "many" / f"{number:04}-{'x' * 200}").touch()
    (folder / "a.txt").write_text("hello")
    (folder / "b.txt").write_text("bye")
    env = {"FILESYSTEM_ROOT": str(folder), "FILESYSTEM_WRITABLE": "true"}
    tools: dict[str, dict[str, Any]] = {
        "read_file": {"path": "a.txt"},
        "list_folder": {},
        "search_text": {"text": "hello"},
        "write_file": {"path": "new.txt", "text": "new"},
        "delete_file": {"path": "b.txt"},
    }
    large = LargeResultSample(tool="list_folder", arguments={"path": "many", "limit": 1000})
    card = await examined("filesystem", tmp_path, env, tools, large)
    assert card.finding("large_results").verdict == "pass"


@pytest.mark.xdist_group("postgres connector")
@pytest.mark.exhaustive
async def test_postgres(tmp_path: Path, postgres: Postgres) -> None:
    postgres.execute("DROP ROLE IF EXISTS contract")
    postgres.execute("CREATE ROLE contract LOGIN PASSWORD 'contract-pass-1'")
    env = {"POSTGRES_URL": f"postgresql://contract:contract-pass-1@127.0.0.1:{postgres.port}/postgres"}
    large = LargeResultSample(
        tool="query", arguments={"sql": "SELECT repeat('x', 1000) FROM generate_series(1, 900)", "limit": 500}
    )
    tools: dict[str, dict[str, Any]] = {"query": {"sql": "SELECT 1"}, "explain": {"sql": "SELECT 1"}}
    card = await examined("postgres", tmp_path, env, tools, large)
    assert card.finding("large_results").verdict == "pass"


@pytest.mark.xdist_group("valkey")
@pytest.mark.exhaustive
async def test_redis(tmp_path: Path, valkey: Valkey) -> None:
    with valkey.client() as client:
        client.mset({"contract:a": "1", "contract:b": "2"})
        client.rpush("contract:large", *("x" * 500 for _ in range(500)))
    tools: dict[str, dict[str, Any]] = {
        "read_key": {"key": "contract:a"},
        "delete_key": {"key": "contract:b"},
        "expire_key": {"key": "contract:a", "ttl_seconds": 5000},
    }
    large = LargeResultSample(tool="read_key", arguments={"key": "contract:large"})
    card = await examined("redis", tmp_path, {"REDIS_URL": valkey.url}, tools, large)
    assert card.finding("large_results").verdict == "pass"


@pytest.mark.xdist_group("slapd")
@pytest.mark.exhaustive
async def test_ldap(tmp_path: Path, slapd: Slapd) -> None:
    slapd.add(f"uid=kim,ou=people,{BASE}", objectClass="inetOrgPerson", cn="Kim", sn="Kim", mail="kim@acme.example")
    env = {"LDAP_URL": slapd.url, "LDAP_BIND_DN": ADMIN, "LDAP_BIND_PASSWORD": PASSWORD, "LDAP_BASE_DN": BASE}
    kim = {"user_id": "kim"}
    tools: dict[str, dict[str, Any]] = {
        "find_users": {"query": "kim@acme.example"},
        "get_user": kim,
        "list_user_groups": kim,
        "unlock_account": kim,
        "reset_password": kim,
        "add_to_group": {**kim, "group": "staff"},
        "remove_from_group": {**kim, "group": "staff"},
    }
    await examined("ldap", tmp_path, env, tools)


@pytest.mark.xdist_group("prometheus")
@pytest.mark.exhaustive
async def test_prometheus(tmp_path: Path, prometheus: PrometheusServer) -> None:
    await examined("prometheus", tmp_path, {"PROMETHEUS_URL": prometheus.url}, {})


@pytest.mark.xdist_group("keycloak")
@pytest.mark.exhaustive
async def test_keycloak(tmp_path: Path, keycloak: Keycloak) -> None:
    env = {
        "KEYCLOAK_URL": keycloak.url,
        "KEYCLOAK_REALM": "acme",
        "KEYCLOAK_CLIENT_ID": "gaby",
        "KEYCLOAK_CLIENT_SECRET": CLIENT_SECRET,
    }
    ada = {"user_id": "u-1"}
    writes = ("logout_sessions", "send_actions_email", "clear_login_failures", "disable_user", "enable_user")
    tools: dict[str, dict[str, Any]] = {"find_users": {"query": "ada"}, "get_user": ada, "list_sessions": ada}
    await examined("keycloak", tmp_path, env, tools | dict.fromkeys(writes, ada))
    assert keycloak.mails == [("u-1", ["UPDATE_PASSWORD"])]


@pytest.mark.exhaustive
async def test_http_openapi(tmp_path: Path, keycloak: Keycloak) -> None:
    """Any server will do for the API; this one is at hand and answers everything with 404 or 401."""
    (tmp_path / "api.yaml").write_text(
        "openapi: 3.1.0\npaths:\n"
        "  /orders/{id}:\n    parameters: [{name: id, in: path, required: true, schema: {type: string}}]\n"
        "    get: {operationId: getOrder}\n    delete: {operationId: deleteOrder}\n"
    )
    env = {
        "HTTP_OPENAPI_FILE": str(tmp_path / "api.yaml"),
        "HTTP_OPENAPI_BASE_URL": keycloak.url,
        "HTTP_OPENAPI_ALLOW_NETWORKS": "127.0.0.0/8",
        "HTTP_OPENAPI_AUTH_VALUE": "Bearer contract-token-77",
    }
    target = StdioTarget([sys.executable, "-m", "gaby_connectors.http_openapi"], {"PATH": os.environ["PATH"], **env})
    card = await check(target, start_within=60)
    assert card.failures == ()


async def test_a_new_connector_from_the_scaffold(tmp_path: Path) -> None:
    made = create("acme-orders", tmp_path)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(made)}
    target = StdioTarget([sys.executable, "-m", "acme_orders_connector"], environment)
    samples = SampleArguments.model_validate_json((made / "samples.json").read_text())
    card = await check(target, samples=samples, writes=True, start_within=60)
    assert card.failures == ()
    assert card.server == "acme_orders 0.1.0"
    assert card.finding("idempotent_retry").verdict == "pass"
