"""Every setting of Gaby in one tree. Each describes itself; the reference page is generated from here."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from dotenv import dotenv_values
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo

from gaby.kernel.errors import Misconfigured

PREFIX = "GABY_"


def _duration(value: object) -> object:
    found = re.fullmatch(r"(\d{1,9})\s*(s|m|h|d)", value.strip()) if isinstance(value, str) else None
    return timedelta(seconds=int(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]]) if found else value


Duration = Annotated[timedelta, BeforeValidator(_duration)]
"""A span of time as people write it: `90s`, `15m`, `12h`, `14d`; ISO 8601 works too."""


_OFTEN_ENOUGH = Field(ge=timedelta(seconds=1), le=timedelta(days=400))


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class ServerSettings(_Group):
    """How people and programs reach Gaby."""

    host: Annotated[str, Field(description="Address to listen on. 0.0.0.0 means every network interface.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Field(ge=0, le=65535, description="Port to listen on; 0 takes a free one.")] = 8080
    public_url: Annotated[
        str | None,
        Field(
            pattern=r"^https?://",
            description="How browsers reach Gaby, when a proxy stands in front. With https, cookies are marked Secure.",
        ),
    ] = None
    trusted_proxies: Annotated[
        str,
        Field(description="Addresses of proxies, comma-separated, whose X-Forwarded-For and -Proto are believed."),
    ] = "127.0.0.1"
    max_body_bytes: Annotated[
        int, Field(ge=1024, le=1 << 30, description="Largest request body accepted, in bytes; larger ones answer 413.")
    ] = 6_000_000


class DatabaseSettings(_Group):
    """Where everything is kept."""

    url: Annotated[
        SecretStr | None,
        Field(
            description="`sqlite:///PATH` or `postgresql://USER:PASSWORD@HOST/NAME`. Without it, gaby.db in GABY_HOME."
        ),
    ] = None
    migration_url: Annotated[
        SecretStr | None,
        Field(description="A Postgres login that may change tables, when the one of GABY_DATABASE_URL may not."),
    ] = None
    role: Annotated[
        str,
        Field(
            pattern=r"^[a-z_][a-z0-9_]{0,62}$",
            description="The Postgres role that Gaby acts as. It owns nothing and cannot bypass row-level security.",
        ),
    ] = "gaby_app"
    pool_size: Annotated[int, Field(ge=1, le=200, description="Postgres connections kept open by each process.")] = 10
    auto_upgrade: Annotated[
        bool,
        Field(description="Bring the tables up to date when the server starts. Without it, run `gaby db upgrade`."),
    ] = True


class CryptoSettings(_Group):
    """The key that protects all other keys."""

    master_key: Annotated[
        SecretStr | None,
        Field(description="The master key as text, for machines that share one. Without it, a key file in GABY_HOME."),
    ] = None


class SessionSettings(_Group):
    """How long people stay signed in."""

    idle: Annotated[Duration, Field(description="A session ends after this long without use.")] = timedelta(hours=12)
    absolute: Annotated[Duration, Field(description="A session ends after this long in any case.")] = timedelta(days=14)

    @field_validator("idle", "absolute")
    @classmethod
    def _some_time(cls, value: timedelta) -> timedelta:
        if not timedelta(minutes=1) <= value <= timedelta(days=400):
            raise ValueError("must be between one minute and 400 days")
        return value


class AuditSettings(_Group):
    """The log that proves what Gaby did."""

    checkpoint_rows: Annotated[
        int, Field(ge=1, le=1 << 20, description="Sign a checkpoint after this many new rows.")
    ] = 256
    checkpoint_every: Annotated[
        Duration, _OFTEN_ENOUGH, Field(description="Sign a checkpoint at the latest this long after a new row.")
    ] = timedelta(seconds=60)
    heartbeat_every: Annotated[
        Duration,
        _OFTEN_ENOUGH,
        Field(description="Sign a checkpoint this often even when nothing happens, so that silence is proven too."),
    ] = timedelta(minutes=15)
    verify_every: Annotated[
        Duration, Field(description="Walk the whole log this often and raise the alarm if it does not verify.")
    ] = timedelta(days=1)
    anchor_file: Annotated[
        Path | None,
        Field(
            description="Where signed checkpoints are kept outside the database. Another disk is better. "
            "Without it, `anchors.jsonl` in GABY_HOME."
        ),
    ] = None
    anchor_webhook: Annotated[
        SecretStr | None, Field(description="A URL that each signed checkpoint is also sent to. It may hold a token.")
    ] = None
    signing_key: Annotated[
        SecretStr | None,
        Field(
            description="The Ed25519 signing key (PEM), for machines that share one. Without it, a file in GABY_HOME."
        ),
    ] = None

    @field_validator("anchor_webhook")
    @classmethod
    def _http(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return value


class SafetySettings(_Group):
    """What Gaby may see and do."""

    profile: Annotated[
        Literal["default", "gdpr", "hipaa", "soc2"],
        Field(description="Which personal data is redacted before models, logs, traces and memory see it."),
    ] = "default"
    approval_ttl: Annotated[
        Duration,
        _OFTEN_ENOUGH,
        Field(description="How long an approval may wait before the question is closed and escalated."),
    ] = timedelta(hours=24)
    sitting: Annotated[
        Duration,
        _OFTEN_ENOUGH,
        Field(description="How long an operator who agreed is not asked again for the same harmless kind of action."),
    ] = timedelta(hours=8)


class ConnectorSettings(_Group):
    """How patient Gaby is with its connectors."""

    start_timeout: Annotated[
        Duration, _OFTEN_ENOUGH, Field(description="A connector that shows no tools after this long did not start.")
    ] = timedelta(seconds=30)
    call_deadline: Annotated[
        Duration, _OFTEN_ENOUGH, Field(description="A call that is not answered after this long is given up.")
    ] = timedelta(seconds=60)
    idle_stop: Annotated[
        Duration, _OFTEN_ENOUGH, Field(description="A connector that nobody used for this long is stopped until used.")
    ] = timedelta(minutes=15)
    check_every: Annotated[
        Duration, _OFTEN_ENOUGH, Field(description="How often connectors are asked whether they are well.")
    ] = timedelta(seconds=30)
    keep_results: Annotated[
        Duration, _OFTEN_ENOUGH, Field(description="How long results that were too large to pass around stay on disk.")
    ] = timedelta(days=2)


class LogSettings(_Group):
    """What Gaby tells while it runs."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="The least serious level logged.")
    ] = "info"
    format: Annotated[
        Literal["auto", "json", "console"],
        Field(description="`json` for machines, `console` for eyes, `auto` chooses by whether it is a terminal."),
    ] = "auto"


class TelemetrySettings(_Group):
    """Traces for OpenTelemetry. Off unless an endpoint is given."""

    endpoint: Annotated[
        str | None,
        Field(
            pattern=r"^https?://",
            description="OTLP/HTTP endpoint, such as http://localhost:4318. Needs gaby[telemetry].",
        ),
    ] = None
    metrics_token: Annotated[
        SecretStr | None,
        Field(description="Bearer token for /metrics. Without it, only this machine may read them."),
    ] = None


class Settings(_Group):
    """Gaby's settings."""

    home: Annotated[
        Path,
        Field(description="Folder for the database, keys and anchors of an embedded installation."),
    ] = Path("var/gaby")
    failpoints: Annotated[
        str | None, Field(description="For tests: break on purpose at named places, as `name=kill|error|delay:5`.")
    ] = None
    server: ServerSettings = ServerSettings()
    database: DatabaseSettings = DatabaseSettings()
    crypto: CryptoSettings = CryptoSettings()
    session: SessionSettings = SessionSettings()
    audit: AuditSettings = AuditSettings()
    safety: SafetySettings = SafetySettings()
    connectors: ConnectorSettings = ConnectorSettings()
    log: LogSettings = LogSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @field_validator("home")
    @classmethod
    def _at_home(cls, value: Path) -> Path:
        try:
            return value.expanduser()
        except RuntimeError:
            raise ValueError("begins with ~, but there is no home folder to put in its place") from None

    @property
    def database_url(self) -> str:
        if self.database.url is not None:
            return self.database.url.get_secret_value()
        return f"sqlite:///{self.home.absolute() / 'gaby.db'}"

    @property
    def master_key_path(self) -> Path:
        return self.home / "keys" / "master.json"

    @property
    def signing_key_path(self) -> Path:
        return self.home / "keys" / "audit.pem"

    @property
    def anchor_path(self) -> Path:
        return self.audit.anchor_file or self.home / "anchors.jsonl"


@dataclass(frozen=True)
class Setting:
    """One leaf of the tree, as the reference and the loader see it."""

    variable: str
    path: tuple[str, ...]
    field: FieldInfo

    @property
    def is_secret(self) -> bool:
        return "SecretStr" in str(self.field.annotation)


@dataclass(frozen=True)
class Loaded:
    settings: Settings
    warnings: list[str]


def all_settings(group: type[BaseModel] = Settings, path: tuple[str, ...] = ()) -> Iterator[Setting]:
    for name, field in group.model_fields.items():
        here = (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from all_settings(field.annotation, here)
        else:
            yield Setting(PREFIX + "_".join(here).upper(), here, field)


def load(environment: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Loaded:
    """Read the environment over the `.env` file. Wrong values stop the start; unknown names only warn.

    Names count as they are written, in capitals, as everywhere on POSIX; another case is unknown.
    """
    values = dict(_from_file(env_file)) | dict(os.environ if environment is None else environment)
    given = {name: value for name, value in values.items() if name.upper().startswith(PREFIX)}
    tree: dict[str, Any] = {}
    known: set[str] = set()
    for setting in all_settings():
        known.update({setting.variable} | ({f"{setting.variable}_FILE"} if setting.is_secret else set()))
        value = _value_of(setting, given)
        if value is not None:
            _put(tree, setting.path, value)
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        raise Misconfigured(_explain(error)) from None
    return Loaded(settings, [_unknown(name, known) for name in sorted(given) if name not in known])


def _from_file(env_file: Path | None) -> Iterator[tuple[str, str]]:
    if env_file is None or not env_file.is_file():
        return
    try:
        found = dotenv_values(env_file)
    except (OSError, ValueError) as error:
        raise Misconfigured(f"The file {env_file} cannot be read: {_why(error)}.") from None
    for name, value in found.items():
        if value is not None:
            yield name, value


def _value_of(setting: Setting, given: Mapping[str, str]) -> str | None:
    value = given.get(setting.variable) or None  # An empty variable means not set, as in compose files.
    file = (given.get(f"{setting.variable}_FILE") or None) if setting.is_secret else None
    if value is not None and file is not None:
        raise Misconfigured(f"Both {setting.variable} and {setting.variable}_FILE are set. Keep one.")
    return value if file is None else _secret_in(file, setting)


def _secret_in(file: str, setting: Setting) -> str:
    # Neither the path nor the contents are repeated: somebody may have put the secret itself where its path belongs.
    try:
        value = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise Misconfigured(f"The file that {setting.variable}_FILE names cannot be read: {_why(error)}.") from None
    if not value:
        raise Misconfigured(f"The file that {setting.variable}_FILE names is empty. Put the secret in it.")
    return value


def _why(error: OSError | ValueError) -> str:
    return (error.strerror or "it cannot be opened") if isinstance(error, OSError) else "it is not UTF-8 text"


def _put(tree: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    for part in path[:-1]:
        tree = cast("dict[str, Any]", tree.setdefault(part, {}))
    tree[path[-1]] = value


_WORDS = {"time_delta_parsing": "should be a span of time, such as 90s, 15m, 12h, 14d or PT15M"}


def _explain(error: ValidationError) -> str:
    lines = [
        f"{PREFIX}{'_'.join(str(part) for part in each['loc']).upper()}: {_WORDS.get(each['type'], each['msg'])}"
        for each in error.errors(include_input=False)
    ]
    return "Some settings are wrong. " + "; ".join(lines) + ". See `gaby config reference`."


def _unknown(name: str, known: set[str]) -> str:
    near = get_close_matches(name.upper(), known, n=1)
    return f"{name} is not a setting of Gaby." + (f" Did you mean {near[0]}?" if near else "")
