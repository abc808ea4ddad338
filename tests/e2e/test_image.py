"""The container image and the compose file: what they set exists, and what was built starts on Postgres."""

import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
import yaml
from scripts import real_servers

from gaby import cli
from gaby.settings import all_settings
from tests.support.postgres import start_postgres
from tests.support.server import serving

pytestmark = pytest.mark.promise("O2")

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
TAG = "localhost/gaby-test"


def test_the_compose_file_names_settings_and_commands_that_exist() -> None:
    known = {setting.variable for setting in all_settings()}
    services = {name: COMPOSE["services"][name] for name in ("gaby", "worker")}
    assert {variable for service in services.values() for variable in service["environment"]} <= known
    assert services["worker"]["command"] in cli.COMMANDS
    # Workers open what the server sealed, so they need its keys.
    assert services["gaby"]["volumes"] == services["worker"]["volumes"] == ["home:/var/lib/gaby"]


def test_the_image_names_settings_that_exist_and_runs_as_nobody_special() -> None:
    text = (ROOT / "Containerfile").read_text()
    assert set(re.findall(r"GABY_\w+", text)) <= {setting.variable for setting in all_settings()}
    assert re.findall(r"^USER (\w+)$", text, re.MULTILINE) == ["gaby"]
    copied = {name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for name in line.split()}
    ignored = (ROOT / ".dockerignore").read_text()
    assert copied == {line[1:] for line in ignored.splitlines() if line.startswith("!")}
    assert (ROOT / ".containerignore").read_text() == ignored


@pytest.fixture
def container() -> Generator[str]:
    assert not real_servers.missing(real_servers.FOR_IMAGES), "python -m scripts.real_servers --images installs it"
    subprocess.run([sys.executable, "-m", "scripts.build_image", "--tag", TAG], cwd=ROOT, check=True)
    made = subprocess.run(["buildah", "from", "--pull-never", TAG], check=True, capture_output=True, text=True)
    name = made.stdout.strip()
    yield name
    subprocess.run(["buildah", "rm", name], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.exhaustive
def test_what_was_built_starts_on_postgres(container: str, tmp_path: Path) -> None:
    database = start_postgres()
    command = [
        *("buildah", "run", "--isolation", "chroot", "--env", f"GABY_DATABASE_URL={database.url()}"),
        *("--env", "GABY_SERVER_HOST=127.0.0.1", container, "--", "gaby", "serve", "--port", "0"),
    ]
    try:
        with serving(tmp_path / "home", command=command, patience=120) as server:
            assert httpx2.get(f"{server.url}/readyz").status_code == 200
            # buildah passes no signals on, as a runtime would: the process inside is told itself.
            inside = psutil.Process(server.process.pid).children(recursive=True)
            [gaby] = [each for each in inside if each.name() == "gaby"]
            assert gaby.uids().real == 10001
            gaby.terminate()
            assert server.process.wait(60) == 0
    finally:
        database.remove()
