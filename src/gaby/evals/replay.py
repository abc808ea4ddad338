"""The replay connector: one recorded incident, offered as a monitoring system would. `python -m gaby.evals.replay`."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from gaby.evals.recording import Json, Recording, direction, instance_of
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.config import ConnectorConfig
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import not_found
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.sdk.serve import main


class ReplayConfig(ConnectorConfig):
    prefix: ClassVar[str] = "REPLAY_"

    folder: Annotated[Path, Field(description="The folder of one recorded incident.")]


class Monitoring(Backend):
    config: ReplayConfig

    @property
    def recording(self) -> Recording:
        return Recording(self.config.folder)

    async def check(self) -> str:
        return f"{len(self.recording.metrics)} metrics were recorded."


class Metric(BaseModel):
    metric: str
    instance: str
    unit: str
    first: float | None
    last: float | None
    lowest: float | None
    highest: float | None
    trend: str


class MetricList(BaseModel):
    metrics: list[Metric]


class MetricValues(BaseModel):
    metric: str
    instance: str
    unit: str
    values: list[tuple[str, float]]


class IncidentEvent(BaseModel):
    at: str
    source: str
    categories: list[str]
    message: str


class Events(BaseModel):
    events: list[IncidentEvent]


class StatementLoad(BaseModel):
    statement: str
    load: float
    waits: list[str]
    calls_per_second: float | None


class DatabaseLoad(BaseModel):
    statements: list[StatementLoad]
    waits: list[str]
    users: list[str]
    highest_load: float | None


connector = Connector(
    "replay",
    version="1.0.0",
    instructions="The monitoring of a Postgres database. Look at the metrics, then at the events and at the load.",
    config=ReplayConfig,
    backend=Monitoring,
)
_OURS = {"*": ResultLabel.SYSTEM}


@connector.tool(ToolManifest(scope="read", path="metrics", results=_OURS))
async def list_metrics(monitoring: Monitoring) -> MetricList:
    """Show every metric of the database for the time of the alert: lag, connections, storage, CPU, latency."""
    return MetricList(metrics=[_metric(each) for each in monitoring.recording.metrics])


@connector.tool(ToolManifest(scope="read", path="metrics/{name}", results=_OURS))
async def get_metric(
    monitoring: Monitoring,
    name: Annotated[str, Field(max_length=100, description="A metric's name, such as ReplicaLag.")],
) -> MetricValues:
    """Show one metric of the database minute by minute."""
    for each in monitoring.recording.metrics:
        if str(each["metric_name"]).lower() == name.lower():
            pairs = list(zip(each["timestamps"], each["values"], strict=False))
            return MetricValues(metric=each["metric_name"], instance=instance_of(each), unit=each["unit"], values=pairs)
    raise not_found("This metric was not recorded.")


@connector.tool(ToolManifest(scope="read", path="events", results=_OURS))
async def list_events(monitoring: Monitoring) -> Events:
    """Show what the database service itself reported: failovers, maintenance, storage, replicas."""
    return Events(
        events=[
            IncidentEvent(
                at=each["date"],
                source=each["source_identifier"],
                categories=each.get("event_categories", []),
                message=each["message"],
            )
            for each in monitoring.recording.events
        ]
    )


@connector.tool(ToolManifest(scope="read", path="load", results=_OURS))
async def get_load(monitoring: Monitoring) -> DatabaseLoad:
    """Show what keeps the database busy: the heaviest statements, what they wait for, and whose they are."""
    load = monitoring.recording.load
    return DatabaseLoad(
        statements=[
            StatementLoad(
                statement=each["statement"],
                load=each["db_load_avg"],
                waits=_named(each.get("wait_events", [])),
                calls_per_second=each.get("calls_per_sec"),
            )
            for each in load.get("top_sql", [])
        ],
        waits=_named(load.get("top_wait_events", [])),
        users=_named(load.get("top_users", [])),
        highest_load=max(load.get("db_load", {}).get("values", []), default=None),
    )


def _metric(metric: Json) -> Metric:
    values: list[float] = [float(each) for each in metric["values"]]
    return Metric(
        metric=metric["metric_name"],
        instance=instance_of(metric),
        unit=metric["unit"],
        first=values[0] if values else None,
        last=values[-1] if values else None,
        lowest=min(values, default=None),
        highest=max(values, default=None),
        trend=direction(values),
    )


def _named(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{each['name']} ({each['db_load_avg']})" for each in rows]


if __name__ == "__main__":
    main(connector)
