"""Settings: where they come from, what is accepted, and that no secret is ever repeated."""

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr, TypeAdapter

from gaby.kernel.errors import Misconfigured
from gaby.settings import Duration, Setting, Settings, all_settings, load, written_duration

pytestmark = pytest.mark.promise("O4")

ALL = list(all_settings())
SECRETS = [setting for setting in ALL if setting.is_secret]
ANYTHING = st.text(st.characters(), max_size=60)  # Also the lone surrogates that stand for bytes that are no UTF-8.


def value_of(loaded: Settings, setting: Setting) -> Any:
    value: Any = loaded
    for part in setting.path:
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.variable)
def test_every_setting_says_what_it_is_for_in_a_whole_sentence(setting: Setting) -> None:
    description = setting.field.description or ""
    assert len(description) > 20
    assert description.endswith(".")


def test_without_any_setting_gaby_starts_and_listens_on_this_machine_only() -> None:
    loaded = load({}, env_file=None)
    assert loaded.warnings == []
    assert loaded.settings.server.host == "127.0.0.1"
    assert loaded.settings.database_url.startswith("sqlite:////")
    assert loaded.settings.database_url.endswith("/var/gaby/gaby.db")
    assert loaded.settings.failpoints is None
    assert [value_of(loaded.settings, secret) for secret in SECRETS] == [None] * len(SECRETS)


def test_every_variable_has_one_name() -> None:
    names = [setting.variable for setting in ALL]
    assert len(set(names)) == len(names)
    assert all(name.startswith("GABY_") and name == name.upper() for name in names)


def test_the_secrets_are_known_as_secrets() -> None:
    assert {secret.variable for secret in SECRETS} >= {
        "GABY_DATABASE_URL",
        "GABY_DATABASE_MIGRATION_URL",
        "GABY_CRYPTO_MASTER_KEY",
        "GABY_AUDIT_SIGNING_KEY",
        "GABY_TELEMETRY_METRICS_TOKEN",
    }


def test_settings_cannot_be_changed_once_loaded() -> None:
    loaded = load({}, env_file=None).settings
    with pytest.raises(ValueError, match="frozen"):
        loaded.server.port = 1


def test_paths_follow_the_home_folder() -> None:
    loaded = load({"GABY_HOME": "/srv/gaby"}, env_file=None).settings
    assert loaded.database_url == "sqlite:////srv/gaby/gaby.db"
    assert loaded.anchor_path == Path("/srv/gaby/anchors.jsonl")


# Where values come from.


@pytest.fixture
def env_file(tmp_path: Path) -> Path:
    return tmp_path / ".env"


def test_the_environment_wins_over_the_env_file(env_file: Path) -> None:
    env_file.write_text("GABY_SERVER_PORT=1111\nGABY_LOG_LEVEL=debug\n")
    loaded = load({"GABY_SERVER_PORT": "2222"}, env_file).settings
    assert (loaded.server.port, loaded.log.level) == (2222, "debug")


def test_an_empty_variable_means_not_set_even_over_the_env_file(env_file: Path) -> None:
    env_file.write_text("GABY_SERVER_PORT=1111\n")
    assert load({"GABY_SERVER_PORT": ""}, env_file).settings.server.port == 8080


def test_without_an_argument_the_process_environment_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GABY_SERVER_PORT", "3333")
    (tmp_path / ".env").write_text("GABY_LOG_FORMAT=json")
    loaded = load().settings
    assert (loaded.server.port, loaded.log.format) == (3333, "json")


def test_broken_lines_in_the_env_file_do_not_stop_the_others(env_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    env_file.write_text("GABY_LOG_LEVEL=debug\n=\n???\n'\nexport\nnot a line at all\nGABY_SERVER_PORT=1111\n")
    with caplog.at_level(logging.CRITICAL):
        loaded = load({}, env_file)
    assert (loaded.settings.log.level, loaded.settings.server.port) == ("debug", 1111)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.binary(max_size=200))
def test_whatever_bytes_the_env_file_holds_gaby_loads_or_says_why_not(env_file: Path, content: bytes) -> None:
    env_file.write_bytes(content)
    loads_or_says_why_not({}, env_file)


def loads_or_says_why_not(environment: dict[str, str], env_file: Path | None = None) -> str | None:
    try:
        load(environment, env_file)
    except Misconfigured as error:
        return error.message
    return None


def test_a_byte_order_mark_does_not_hide_the_first_line(env_file: Path) -> None:
    env_file.write_text("GABY_SERVER_PORT=1111\n", encoding="utf-8-sig")
    assert load({}, env_file).settings.server.port == 1111


def test_an_env_file_in_another_encoding_is_named(env_file: Path) -> None:
    env_file.write_bytes(b"GABY_CRYPTO_MASTER_KEY=swordfish\xff\n")
    with pytest.raises(Misconfigured, match="not UTF-8") as caught:
        load({}, env_file)
    assert str(env_file) in caught.value.message
    assert "swordfish" not in caught.value.message


def test_a_folder_in_place_of_the_env_file_is_ignored(tmp_path: Path) -> None:
    assert load({}, tmp_path).settings == Settings()


# Secrets.


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.variable)
def test_a_secret_can_come_from_a_file(tmp_path: Path, secret: Setting) -> None:
    file = tmp_path / "secret"
    file.write_text("  http://swordfish.example\n")
    value = value_of(load({f"{secret.variable}_FILE": str(file)}, env_file=None).settings, secret)
    assert isinstance(value, SecretStr)
    assert value.get_secret_value() == "http://swordfish.example"


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.variable)
def test_a_secret_is_never_shown(secret: Setting) -> None:
    loaded = load(
        {secret.variable: "http://swordfish.example", "GABY_SWORD": "http://swordfish.example"}, env_file=None
    )
    shown = [repr(loaded), str(loaded), repr(loaded.settings), str(loaded.settings), loaded.settings.model_dump_json()]
    assert "swordfish" not in "".join(shown)


def unreadable(file: Path) -> None:
    file.mkdir()


def missing(_file: Path) -> None:
    pass


def binary(file: Path) -> None:
    file.write_bytes(b"swordfish\xff\xfe\x00")


def empty(file: Path) -> None:
    file.write_text(" \n")


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.variable)
@pytest.mark.parametrize("make", [unreadable, missing, binary, empty])
def test_a_secret_file_that_is_of_no_use_is_named_by_its_variable(tmp_path: Path, make: Any, secret: Setting) -> None:
    make(tmp_path / "secret")
    with pytest.raises(Misconfigured, match=f"{secret.variable}_FILE") as caught:
        load({f"{secret.variable}_FILE": str(tmp_path / "secret")}, env_file=None)
    assert "swordfish" not in caught.value.message
    assert caught.value.__cause__ is None


def test_a_secret_given_where_its_path_belongs_is_not_repeated() -> None:
    for mistake in ("swordfish", "swordfish\0", "swordfish" * 1000):
        with pytest.raises(Misconfigured, match="GABY_CRYPTO_MASTER_KEY_FILE") as caught:
            load({"GABY_CRYPTO_MASTER_KEY_FILE": mistake}, env_file=None)
        assert "swordfish" not in caught.value.message


def test_a_secret_and_its_file_at_once_are_refused(tmp_path: Path) -> None:
    both = {"GABY_DATABASE_URL": "sqlite:///a", "GABY_DATABASE_URL_FILE": str(tmp_path / "b")}
    with pytest.raises(Misconfigured, match="Both GABY_DATABASE_URL and GABY_DATABASE_URL_FILE are set"):
        load(both, env_file=None)


def test_an_empty_variable_beside_the_other_is_no_contradiction(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("sqlite:///b")
    from_file = {"GABY_DATABASE_URL": "", "GABY_DATABASE_URL_FILE": str(tmp_path / "url")}
    assert load(from_file, env_file=None).settings.database_url == "sqlite:///b"
    from_variable = {"GABY_DATABASE_URL": "sqlite:///a", "GABY_DATABASE_URL_FILE": ""}
    assert load(from_variable, env_file=None).settings.database_url == "sqlite:///a"


# Names that are not settings.


@pytest.mark.parametrize(
    ("given_name", "meant"),
    [
        ("GABY_LOG_LEVLE", "GABY_LOG_LEVEL"),
        ("GABY_DATABSE_URL", "GABY_DATABASE_URL"),
        ("GABY_SERVER_PORT_FILE", "GABY_SERVER_PORT"),
        ("gaby_log_level", "GABY_LOG_LEVEL"),
        ("Gaby_Server_Port", "GABY_SERVER_PORT"),
    ],
)
def test_an_unknown_name_is_a_warning_that_tells_the_nearest(given_name: str, meant: str) -> None:
    loaded = load({given_name: "swordfish"}, env_file=None)
    assert loaded.warnings == [f"{given_name} is not a setting of Gaby. Did you mean {meant}?"]
    assert loaded.settings == Settings()


def test_an_unknown_name_like_nothing_we_know_is_a_warning_too() -> None:
    assert load({"GABY_QZX": "1"}, env_file=None).warnings == ["GABY_QZX is not a setting of Gaby."]


def test_names_of_other_programs_are_none_of_our_business(env_file: Path) -> None:
    env_file.write_text("POSTGRES_PASSWORD=x\nGABYLON=1\n")
    assert load({"PATH": "/bin", "HOME": "/root"}, env_file).warnings == []


# Values.


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("90s", timedelta(seconds=90)),
        ("15m", timedelta(minutes=15)),
        ("12h", timedelta(hours=12)),
        ("14d", timedelta(days=14)),
        (" 15 m ", timedelta(minutes=15)),
        ("PT15M", timedelta(minutes=15)),
        ("P1DT12H", timedelta(days=1, hours=12)),
        ("01:30:00", timedelta(minutes=90)),
    ],
)
def test_a_span_of_time_is_written_as_people_write_it(written: str, meant: timedelta) -> None:
    assert load({"GABY_SESSION_IDLE": written}, env_file=None).settings.session.idle == meant


@pytest.mark.parametrize("written", ["soon", "15", "15M", "1.5h", "-5m", "m", "99999999999999999999d", "nan"])
def test_a_span_of_time_that_makes_no_sense_is_answered_with_an_example(written: str) -> None:
    with pytest.raises(Misconfigured, match="GABY_SESSION_IDLE: should be a span of time, such as 90s, 15m"):
        load({"GABY_SESSION_IDLE": written}, env_file=None)


@pytest.mark.parametrize(
    "variable",
    [
        "GABY_SESSION_IDLE",
        "GABY_SESSION_ABSOLUTE",
        "GABY_AUDIT_CHECKPOINT_EVERY",
        "GABY_AUDIT_HEARTBEAT_EVERY",
    ],
)
@pytest.mark.parametrize("written", ["0s", "-PT1H", "401d", "999999999d"])
def test_a_span_of_time_that_would_never_or_always_be_over_is_refused(variable: str, written: str) -> None:
    with pytest.raises(Misconfigured, match=variable):
        load({variable: written}, env_file=None)


@pytest.mark.parametrize(
    ("variable", "wrong"),
    [
        ("GABY_SERVER_PORT", "65536"),
        ("GABY_SERVER_PORT", "http"),
        ("GABY_SERVER_PUBLIC_URL", "gaby.example.org"),
        ("GABY_SERVER_MAX_BODY_BYTES", "10"),
        ("GABY_DATABASE_ROLE", 'x"; DROP ROLE'),
        ("GABY_DATABASE_ROLE", "gaby_app\n"),
        ("GABY_DATABASE_POOL_SIZE", "0"),
        ("GABY_DATABASE_AUTO_UPGRADE", "perhaps"),
        ("GABY_LOG_LEVEL", "INFO!"),
        ("GABY_TELEMETRY_ENDPOINT", "localhost:4318"),
    ],
)
def test_a_wrong_value_is_named_by_its_variable(variable: str, wrong: str) -> None:
    with pytest.raises(Misconfigured, match=f"{variable}: ") as caught:
        load({variable: wrong}, env_file=None)
    assert "gaby config reference" in caught.value.message


def test_several_wrong_values_are_all_named_at_once() -> None:
    wrong = {"GABY_SERVER_PORT": "x", "GABY_LOG_LEVEL": "y", "GABY_SESSION_IDLE": "z"}
    message = loads_or_says_why_not(wrong)
    assert message is not None
    assert all(variable in message for variable in wrong)


@given(text=ANYTHING)
@pytest.mark.parametrize("setting", ALL, ids=lambda setting: setting.variable)
def test_whatever_is_written_gaby_loads_or_names_the_variable(setting: Setting, text: str) -> None:
    message = loads_or_says_why_not({setting.variable: text})
    assert message is None or setting.variable in message


@given(text=ANYTHING)
@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.variable)
def test_whatever_a_secret_is_it_is_not_repeated(secret: Setting, text: str) -> None:
    value = f"swordfish{text}"
    for variable in (secret.variable, f"{secret.variable}_FILE"):
        message = loads_or_says_why_not({variable: value, "GABY_SERVER_PORT": "wrong"})
        assert message is not None
        assert "swordfish" not in message


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400)))
def test_a_span_of_time_is_shown_as_it_can_be_written(span: timedelta) -> None:
    duration: TypeAdapter[timedelta] = TypeAdapter(Duration)
    assert duration.validate_python(written_duration(span)) == span


def test_a_span_of_time_is_shown_in_the_largest_unit_that_fits() -> None:
    spans = [timedelta(0), timedelta(seconds=90), timedelta(minutes=15), timedelta(hours=36), timedelta(days=14)]
    assert [written_duration(span) for span in spans] == ["0s", "90s", "15m", "36h", "14d"]
