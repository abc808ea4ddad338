"""The tools of the Prometheus connector."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from gaby_connectors.prometheus.config import PrometheusConfig
from gaby_connectors.prometheus.server import Prometheus
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import invalid
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest

MOST_SERIES = 200
MOST_POINTS = 500
_SYSTEM = ResultLabel.SYSTEM
Query = Annotated[
    str, Field(min_length=1, max_length=5000, description="A query in PromQL, such as up == 0.", examples=["up"])
]
Time = Annotated[
    str,
    Field(max_length=40, description="A moment in ISO 8601, or how long ago: 90s, 15m, 6h, 7d."),
]
_AGO = re.compile(r"^(\d{1,6})([smhd])$")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class Sample(BaseModel):
    labels: dict[str, str]
    time: float
    value: str


class QuerySamples(BaseModel):
    type: str
    samples: list[Sample]
    series: int


class Series(BaseModel):
    labels: dict[str, str]
    points: list[tuple[float, str]]


class Range(BaseModel):
    step_seconds: int
    series: list[Series]
    series_found: int


class Alert(BaseModel):
    name: str
    state: str
    since: str | None
    value: str
    labels: dict[str, str]
    annotations: dict[str, str]


class Alerts(BaseModel):
    alerts: list[Alert]


class ScrapeTarget(BaseModel):
    job: str
    instance: str
    health: str
    last_scrape: str
    last_error: str


class Targets(BaseModel):
    targets: list[ScrapeTarget]


class LabelValues(BaseModel):
    label: str
    values: list[str]


connector = Connector(
    "prometheus",
    version="1.0.0",
    instructions="Measurements from Prometheus. Look at alerts and targets first; label_values tells what there is.",
    config=PrometheusConfig,
    backend=Prometheus,
)


@connector.tool(ToolManifest(scope="read", path="query", cache=False), more="Aggregate, or add label matchers.")
async def query(prometheus: Prometheus, promql: Query, time: Time | None = None) -> QuerySamples:
    """Ask for values at one moment, now if none is given."""
    at = _moment(time).timestamp() if time is not None else None
    result = await prometheus.ask("query", query=promql, time=at, timeout=f"{prometheus.config.seconds:g}s")
    kind = str(result["resultType"])
    rows: list[dict[str, Any]] = result["result"] if kind == "vector" else [{"metric": {}, "value": result["result"]}]
    if kind == "matrix":
        raise invalid("Bad arguments: `promql` asks for a range of time; use query_range.")
    samples = [Sample(labels=row["metric"], time=row["value"][0], value=str(row["value"][1])) for row in rows]
    return QuerySamples(type=kind, samples=samples[:MOST_SERIES], series=len(samples))


@connector.tool(ToolManifest(scope="read", path="query_range", cache=False), more="Aggregate, or use a larger step.")
async def query_range(
    prometheus: Prometheus,
    promql: Query,
    start: Time = "1h",
    end: Time | None = None,
    step_seconds: Annotated[int | None, Field(ge=1, le=86_400, description="Seconds between points.")] = None,
) -> Range:
    """Ask how values went over a time. The step is made larger when there would be more than 500 points a series."""
    first, last = _moment(start), _moment(end) if end is not None else datetime.now(UTC)
    if last <= first:
        raise invalid("Bad arguments: `end` must be after `start`.")
    smallest = int(-((last - first).total_seconds() // -(MOST_POINTS - 1))) or 1
    step = max(step_seconds or 0, smallest)
    result = await prometheus.ask(
        "query_range",
        query=promql,
        start=first.timestamp(),
        end=last.timestamp(),
        step=step,
        timeout=f"{prometheus.config.seconds:g}s",
    )
    series = [
        Series(labels=row["metric"], points=[(at, str(value)) for at, value in row["values"]])
        for row in result["result"][:MOST_SERIES]
    ]
    return Range(step_seconds=step, series=series, series_found=len(result["result"]))


@connector.tool(
    ToolManifest(
        scope="read", path="alerts", cache=False, results={"alerts[].name": _SYSTEM, "alerts[].state": _SYSTEM}
    )
)
async def alerts(prometheus: Prometheus) -> Alerts:
    """Show the alerts that are firing or about to."""
    result = await prometheus.ask("alerts")
    return Alerts(
        alerts=[
            Alert(
                name=row["labels"].get("alertname", ""),
                state=row["state"],
                since=row.get("activeAt"),
                value=str(row.get("value", "")),
                labels=row["labels"],
                annotations=row.get("annotations", {}),
            )
            for row in result["alerts"]
        ]
    )


@connector.tool(
    ToolManifest(scope="read", path="targets", cache=False, results={"targets[].health": _SYSTEM}),
    more="Ask for one state at a time.",
)
async def targets(
    prometheus: Prometheus,
    health: Annotated[Literal["up", "down", "unknown"] | None, Field(description="Only those in this state.")] = None,
) -> Targets:
    """Show what Prometheus watches, whether it is reached, and the last error."""
    result = await prometheus.ask("targets", state="active")
    rows = [row for row in result["activeTargets"] if health is None or row["health"] == health]
    return Targets(
        targets=[
            ScrapeTarget(
                job=row["labels"].get("job", ""),
                instance=row["labels"].get("instance", ""),
                health=row["health"],
                last_scrape=row["lastScrape"],
                last_error=row["lastError"],
            )
            for row in rows
        ]
    )


@connector.tool(ToolManifest(scope="read", path="labels/{label}"), more="Give a `match` that fits fewer series.")
async def label_values(
    prometheus: Prometheus,
    label: Annotated[
        str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]{0,200}$", description="A label; __name__ lists the metrics.")
    ] = "__name__",
    match: Annotated[str | None, Field(max_length=1000, description='Only of these series: up{job="web"}.')] = None,
) -> LabelValues:
    """List the values of a label: all metrics, all jobs, all instances."""
    values = await prometheus.ask(f"label/{label}/values", **{"match[]": match})
    return LabelValues(label=label, values=values)


def _moment(text: str) -> datetime:
    if ago := _AGO.match(text.strip()):
        return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise invalid(f"{text!r} is no time; use 2030-05-01T09:30:00+00:00, or 6h for six hours ago.") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
