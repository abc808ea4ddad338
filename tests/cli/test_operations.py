"""The doctor, the tables, the settings."""

import json
import sqlite3
from pathlib import Path

import pytest
from pydantic import SecretStr

from gaby.app import explain_missing
from gaby.settings import Settings
from gaby.settings.tree import DatabaseSettings
from tests.support.command import Shell

pytestmark = pytest.mark.promise("O4")


def test_before_the_first_start_the_doctor_says_what_to_do(bare_shell: Shell, tmp_path: Path) -> None:
    seen = bare_shell("doctor", "--json")
    health = {check["name"]: check["health"] for check in seen.json()}
    assert seen.code == 2
    assert health["tables"] == "fail"
    assert not (tmp_path / "home").exists()
    assert "gaby db upgrade" in bare_shell("doctor").out


def test_after_the_upgrade_the_doctor_is_content(bare_shell: Shell) -> None:
    assert bare_shell("db", "upgrade").code == 0
    assert bare_shell("workspace", "create", "acme").code == 0
    health = {check["name"]: check["health"] for check in bare_shell("doctor", "--json").json()}
    assert health["database"] == health["tables"] == health["master key"] == "ok"


def test_the_doctor_warns_of_a_key_that_others_can_read(bare_shell: Shell, tmp_path: Path) -> None:
    bare_shell("db", "upgrade")
    bare_shell("workspace", "create", "acme")
    (tmp_path / "home/keys/master.json").chmod(0o644)
    seen = bare_shell("doctor")
    assert seen.code == 2
    assert "can be read by others" in seen.out


def test_wrong_settings_are_named(bare_shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GABY_SERVER_PORT", "many")
    seen = bare_shell("doctor")
    assert seen.code == 3
    assert "GABY_SERVER_PORT" in seen.out
    listed = bare_shell("workspace", "list")
    assert listed.code == 2
    assert "GABY_SERVER_PORT" in listed.err
    assert "Traceback" not in listed.err


def test_an_unknown_setting_is_warned_about(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GABY_DATABASE_ULR", "x")
    assert "Did you mean GABY_DATABASE_URL?" in shell("workspace", "list").err


@pytest.mark.parametrize("command", ["audit verify", "audit export --all", "worker", "db check"])
def test_without_an_installation_a_command_says_where_it_looked(
    bare_shell: Shell, tmp_path: Path, command: str
) -> None:
    refused = bare_shell(*command.split())
    assert refused.code in {1, 3}
    assert f"There is no installation at {tmp_path / 'home'}." in refused.err
    assert "`gaby serve` or `gaby db upgrade` creates one" in refused.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("home", "env_file", "reason"),
    [
        ("elsewhere/gaby", None, "GABY_HOME is elsewhere/gaby, relative to the current folder."),
        (None, None, "GABY_HOME is not set, so it is var/gaby in the current folder."),
        (None, "GABY_HOME=kept", "GABY_HOME in the file .env is kept, relative to the current folder."),
    ],
)
def test_it_says_where_the_path_of_the_home_comes_from(
    bare_shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    home: str | None,
    env_file: str | None,
    reason: str,
) -> None:
    monkeypatch.delenv("GABY_HOME")
    if home is not None:
        monkeypatch.setenv("GABY_HOME", home)
    if env_file is not None:
        (tmp_path / ".env").write_text(env_file)
    expected = tmp_path / (home or ("kept" if env_file else "var/gaby"))
    for refused in (bare_shell("audit", "verify").err, " ".join(bare_shell("doctor").out.split())):
        assert f"There is no installation at {expected}. {reason}" in refused
    assert not expected.exists()


def test_a_database_without_an_installation_is_named_without_its_password(
    bare_shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GABY_DATABASE_URL", "sqlite:///kept.db")
    refused = bare_shell("audit", "verify")
    assert (
        f"There is no installation in the database {tmp_path / 'kept.db'}. GABY_DATABASE_URL names it." in refused.err
    )
    assert list(tmp_path.iterdir()) == []
    url = "postgresql://gaby:hunter2@db.example/support"
    told = explain_missing(Settings(database=DatabaseSettings(url=SecretStr(url))))
    assert "support on db.example" in told
    assert "hunter2" not in told


def test_the_tables_are_checked_on_both_engines(shell: Shell) -> None:
    assert shell("db", "upgrade").code == 0
    checked = shell("db", "check", "--json")
    assert checked.code == 0, checked.err
    assert checked.json() == {"state": "current", "differences": []}


@pytest.mark.parametrize("damage", ["garbage", "foreign"])
def test_a_file_that_is_not_ours_is_refused_and_left_alone(bare_shell: Shell, tmp_path: Path, damage: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    file = home / "gaby.db"
    if damage == "garbage":
        file.write_bytes(b"this is no database, just some text\n" * 200)
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE invoices (id INTEGER)")
        connection.close()
    before = file.read_bytes()
    refused = bare_shell("db", "upgrade")
    assert refused.code == 3
    assert "Traceback" not in refused.err
    assert file.read_bytes() == before


def test_an_unusable_master_key_is_named_and_kept(shell: Shell, tmp_path: Path) -> None:
    shell("workspace", "create", "acme")
    key = tmp_path / "home/keys/master.json"
    key.write_text("{ torn")
    refused = shell("ticket", "add", "It is broken", "Help.")
    assert refused.code != 0
    assert "master.json" in refused.err
    assert "Traceback" not in refused.err
    assert key.read_text() == "{ torn"


def test_secrets_are_masked_when_settings_are_shown(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GABY_TELEMETRY_METRICS_TOKEN", "hunter2hunter2")
    shown = shell("config", "show", "--json")
    assert "hunter2hunter2" not in shown.out
    assert {"setting": "GABY_TELEMETRY_METRICS_TOKEN", "value": "********"} in shown.json()


def test_the_reference_lists_every_setting(bare_shell: Shell) -> None:
    page = bare_shell("config", "reference").out
    listed = json.loads(bare_shell("config", "reference", "--json").out)
    assert all(f"`{each['variable']}`" in page and each["meaning"] for each in listed)


def test_the_master_key_is_rotated_and_old_seals_still_open(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    shell("user", "add", "ada@acme.example", "--password-stdin", stdin="correct horse battery\n")
    done = shell("encryption", "rotate", "--json").json()
    assert done["rewrapped"] >= 1
    assert shell("encryption", "rotate", "--json").json()["master_key"] != done["master_key"]
    assert shell("audit", "verify").code == 0


def test_completion_is_offered(bare_shell: Shell) -> None:
    assert "--show-completion" in bare_shell("--help").out
