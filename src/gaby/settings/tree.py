"""Every setting of Gaby in one tree. Each describes itself; the reference page is generated from here."""

from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator

from gaby.settings.agent import AgentSettings, WorkerSettings
from gaby.settings.base import OFTEN_ENOUGH, Duration, SettingsGroup
from gaby.settings.models import ModelSettings
from gaby_connectors.sdk.address_guard import AddressPolicy


class ServerSettings(SettingsGroup):
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


class DatabaseSettings(SettingsGroup):
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
    pool_size: Annotated[int, Field(ge=1, le=200, description="The most Postgres connections of each process.")] = 20
    auto_upgrade: Annotated[
        bool,
        Field(description="Bring the tables up to date when the server starts. Without it, run `gaby db upgrade`."),
    ] = True


class CryptoSettings(SettingsGroup):
    """The key that protects all other keys."""

    master_key: Annotated[
        SecretStr | None,
        Field(description="The master key as text, for machines that share one. Without it, a key file in GABY_HOME."),
    ] = None


class SessionSettings(SettingsGroup):
    """How long people stay signed in."""

    idle: Annotated[Duration, Field(description="A session ends after this long without use.")] = timedelta(hours=12)
    absolute: Annotated[Duration, Field(description="A session ends after this long in any case.")] = timedelta(days=14)

    @field_validator("idle", "absolute")
    @classmethod
    def _some_time(cls, value: timedelta) -> timedelta:
        if not timedelta(minutes=1) <= value <= timedelta(days=400):
            raise ValueError("must be between one minute and 400 days")
        return value


class AuditSettings(SettingsGroup):
    """The log that proves what Gaby did."""

    checkpoint_rows: Annotated[
        int, Field(ge=1, le=1 << 20, description="Sign a checkpoint after this many new rows.")
    ] = 256
    checkpoint_every: Annotated[
        Duration, OFTEN_ENOUGH, Field(description="Sign a checkpoint at the latest this long after a new row.")
    ] = timedelta(seconds=60)
    heartbeat_every: Annotated[
        Duration,
        OFTEN_ENOUGH,
        Field(description="Sign a checkpoint this often even when nothing happens, so that silence is proven too."),
    ] = timedelta(minutes=15)
    verify_every: Annotated[
        Duration, Field(description="Verify the whole log this often and raise the alarm if it does not verify.")
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
    witnesses: Annotated[
        str | None,
        Field(
            description="Witnesses on other machines that sign each checkpoint, comma-separated, each as its address "
            "and its key: `https://witness.example NAME+ID+KEY`. `gaby audit witness` runs one and prints its key."
        ),
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


class SafetySettings(SettingsGroup):
    """What Gaby may see and do."""

    profile: Annotated[
        Literal["default", "gdpr", "hipaa", "soc2"],
        Field(description="Which personal data is redacted before models, logs, traces and memory see it."),
    ] = "default"
    approval_ttl: Annotated[
        Duration,
        OFTEN_ENOUGH,
        Field(description="How long an approval may wait before the question is closed and escalated."),
    ] = timedelta(hours=24)
    inside: Annotated[
        str | None,
        Field(
            description="Networks and hosts inside your own network that workspaces may point help desks, escalations "
            "and connectors at, comma-separated: `10.2.0.0/16, mail.corp.example`. Without it only public addresses; "
            "whoever manages the installation may set any."
        ),
    ] = None
    sitting: Annotated[
        Duration,
        OFTEN_ENOUGH,
        Field(description="How long an operator who agreed is not asked again for the same harmless kind of action."),
    ] = timedelta(hours=8)

    @field_validator("inside")
    @classmethod
    def _are_places(cls, value: str | None) -> str | None:
        AddressPolicy.allowing(value)
        return value


class ConnectorSettings(SettingsGroup):
    """How patient Gaby is with its connectors."""

    start_timeout: Annotated[
        Duration, OFTEN_ENOUGH, Field(description="A connector that shows no tools after this long did not start.")
    ] = timedelta(seconds=30)
    call_deadline: Annotated[
        Duration, OFTEN_ENOUGH, Field(description="A call that is not answered after this long is given up.")
    ] = timedelta(seconds=60)
    idle_stop: Annotated[
        Duration, OFTEN_ENOUGH, Field(description="A connector that nobody used for this long is stopped until used.")
    ] = timedelta(minutes=15)
    check_every: Annotated[
        Duration, OFTEN_ENOUGH, Field(description="How often connectors are asked whether they are well.")
    ] = timedelta(seconds=30)
    reads_per_minute: Annotated[
        int,
        Field(ge=0, le=100_000, description="How often each new connector may be read from in a minute, per process."),
    ] = 300
    writes_per_minute: Annotated[
        int,
        Field(ge=0, le=100_000, description="How many changes each new connector may make in a minute, per process."),
    ] = 30
    put_aside: Annotated[
        Duration,
        OFTEN_ENOUGH,
        Field(description="How long a connector that failed too often is left alone before it is started again."),
    ] = timedelta(seconds=60)
    keep_results: Annotated[
        Duration, OFTEN_ENOUGH, Field(description="How long results that were too large to pass around stay on disk.")
    ] = timedelta(days=2)


class KnowledgeSettings(SettingsGroup):
    """What Gaby answers from: the company's own documents."""

    networks: Annotated[
        str | None,
        Field(
            description="Private networks in which wikis and websites may be read, comma-separated, such as "
            "`10.2.0.0/16`. Without it only public addresses are."
        ),
    ] = None
    folders: Annotated[
        str | None,
        Field(
            description="Folders below which documents may be read, colon-separated. Without it any that Gaby "
            "may read; adding one takes the right to manage the installation in any case."
        ),
    ] = None
    ask_model: Annotated[
        bool,
        Field(
            description="Whether searches for an answer also ask a model, if there is one: for better queries, and to "
            "judge the passages that were found. It costs a call each."
        ),
    ] = False

    @field_validator("networks")
    @classmethod
    def _are_networks(cls, value: str | None) -> str | None:
        for network in (value or "").split(","):
            if network.strip():
                ip_network(network.strip())
        return value


_TOKENS = Field(ge=0, le=10**12)
_USD = Field(ge=0, le=10**6, allow_inf_nan=False)


class BudgetSettings(SettingsGroup):
    """What models may cost. Workspaces can have limits of their own; see `gaby usage limit`."""

    plan: Annotated[
        Literal["free", "starter", "pro", "business"],
        Field(description="The plan of workspaces that have none of their own. `business` has no limit of tasks."),
    ] = "business"
    run_tokens: Annotated[
        int, _TOKENS, Field(description="Tokens that one task may use. Those read from a cache count a tenth.")
    ] = 200_000
    run_usd: Annotated[float, _USD, Field(description="US dollars that one task may cost.")] = 0.5
    day_tokens: Annotated[int, _TOKENS, Field(description="Tokens that a workspace may use in a day.")] = 5_000_000
    day_usd: Annotated[float, _USD, Field(description="US dollars that a workspace may cost in a day.")] = 20
    month_tokens: Annotated[
        int | None, _TOKENS, Field(description="Tokens that a workspace may use in a month. Without it, no limit.")
    ] = None
    month_usd: Annotated[
        float | None, _USD, Field(description="US dollars that a workspace may cost in a month. Without it, no limit.")
    ] = None


class LogSettings(SettingsGroup):
    """What Gaby tells while it runs."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="The least serious level logged.")
    ] = "info"
    format: Annotated[
        Literal["auto", "json", "console"],
        Field(description="`json` for machines, `console` for eyes, `auto` chooses by whether it is a terminal."),
    ] = "auto"


class TelemetrySettings(SettingsGroup):
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


class Settings(SettingsGroup):
    """Gaby's settings."""

    home: Annotated[
        Path,
        Field(description="Folder for the database, keys and anchors of an embedded installation."),
    ] = Path("var/gaby")
    workspace: Annotated[
        str | None, Field(description="The workspace that commands work in when `--workspace` names none.")
    ] = None
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
    models: ModelSettings = ModelSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    budget: BudgetSettings = BudgetSettings()
    agent: AgentSettings = AgentSettings()
    worker: WorkerSettings = WorkerSettings()
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
