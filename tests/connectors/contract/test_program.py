"""`python -m gaby_connectors.contract`: a table for people, JSON for programs, an exit code for both."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette

from gaby_connectors.contract import HttpTarget, check
from tests.connectors.sdk.toy import ToyConfig, connector
from tests.support.keycloak import serving

pytestmark = pytest.mark.promise("M5")


def contract(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gaby_connectors.contract", "--start-within", "20", *arguments]
    env = {**os.environ, "COLUMNS": "200", "SHOP_TOKEN": "shop-token-2718"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def broken(name: str) -> list[str]:
    return ["--", sys.executable, "-m", f"tests.connectors.contract.broken.{name}"]


def test_a_table_is_shown_and_zero_means_that_all_is_well() -> None:
    ended = contract(*broken("plain"))
    assert ended.returncode == 0, ended.stdout
    assert "Answers the `healthcheck` tool" in ended.stdout


def test_json_is_for_programs_and_one_means_that_something_is_wrong() -> None:
    ended = contract("--json", *broken("chatty"))
    assert ended.returncode == 1
    card = json.loads(ended.stdout)
    assert card["passed"] is False
    assert [finding["rule"] for finding in card["findings"] if finding["verdict"] == "fail"] == ["clean_stdout"]


def test_two_means_that_it_was_called_wrongly(tmp_path: Path) -> None:
    ended = contract("--samples", str(tmp_path / "none.json"), *broken("plain"))
    assert ended.returncode == 2
    assert "cannot be read" in ended.stderr


async def test_a_server_over_http_is_checked_too(tmp_path: Path) -> None:
    server = connector.server(ToyConfig(effects=tmp_path / "effects"))
    app: Starlette = server.streamable_http_app()
    with serving(app) as url:
        card = await check(HttpTarget(f"{url}/mcp"), only={"tools_listed", "manifest_present", "healthcheck", "stops"})
    assert [(finding.rule, finding.verdict) for finding in card.findings] == [
        ("tools_listed", "pass"),
        ("manifest_present", "pass"),
        ("healthcheck", "pass"),
        ("stops", "not applicable"),
    ]
