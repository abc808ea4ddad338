"""Prometheus: values, courses, alerts and targets, asked of a real server."""

import pytest
from pydantic import SecretStr

from gaby_connectors.prometheus.config import PrometheusConfig
from gaby_connectors.prometheus.tools import MOST_POINTS, connector
from gaby_connectors.sdk.manifest import ErrorKind
from tests.connectors.talk import talking
from tests.support.prometheus import PrometheusServer

pytestmark = [pytest.mark.promise("M6"), pytest.mark.xdist_group("prometheus"), pytest.mark.slow]


@pytest.fixture
def config(prometheus: PrometheusServer) -> PrometheusConfig:
    return PrometheusConfig(url=prometheus.url, token=SecretStr("not-needed-here"))


async def test_a_value_is_asked_for(config: PrometheusConfig) -> None:
    async with talking(connector, config) as talk:
        assert "answers" in (await talk.ask("healthcheck"))["detail"]
        found = await talk.ask("query", promql="up")
        assert {sample["labels"]["job"]: sample["value"] for sample in found["samples"]} == {
            "prometheus": "1",
            "gone": "0",
        }
        assert (await talk.ask("query", promql="1 / 0"))["samples"][0]["value"] == "+Inf"
        assert (await talk.ask("query", promql="vector(7)", time="5m"))["samples"][0]["value"] == "7"


async def test_a_course_has_a_bounded_number_of_points(config: PrometheusConfig) -> None:
    async with talking(connector, config) as talk:
        found = await talk.ask("query_range", promql="vector(1)", start="30d", step_seconds=1)
        assert len(found["series"][0]["points"]) <= MOST_POINTS
        assert found["step_seconds"] > 5000
        short = await talk.ask("query_range", promql="vector(1)", start="10m", step_seconds=60)
        assert (short["step_seconds"], len(short["series"][0]["points"])) == (60, 11)


async def test_alerts_and_targets_tell_what_is_down(config: PrometheusConfig) -> None:
    async with talking(connector, config) as talk:
        (alert,) = (await talk.ask("alerts"))["alerts"]
        assert (alert["name"], alert["state"], alert["labels"]["job"]) == ("SomethingIsDown", "firing", "gone")
        (down,) = (await talk.ask("targets", health="down"))["targets"]
        assert (down["job"], down["health"]) == ("gone", "down")
        assert "connection refused" in down["last_error"]


async def test_labels_tell_what_there_is(config: PrometheusConfig) -> None:
    async with talking(connector, config) as talk:
        assert (await talk.ask("label_values", label="job"))["values"] == ["gone", "prometheus"]
        assert "up" in (await talk.ask("label_values"))["values"]
        assert (await talk.ask("label_values", label="job", match='up{job="gone"}'))["values"] == ["gone"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("query", {"promql": "up{"}),
        ("query", {"promql": "up[5m]"}),
        ("query", {"promql": "up", "time": "noon"}),
        ("query_range", {"promql": "up", "start": "1h", "end": "2h"}),
        ("label_values", {"label": "../status"}),
    ],
)
async def test_what_cannot_be_asked_is_refused(config: PrometheusConfig, tool: str, arguments: dict[str, str]) -> None:
    async with talking(connector, config) as talk:
        assert (await talk.fails(tool, **arguments)).kind == ErrorKind.INVALID


async def test_a_server_that_is_gone_is_a_passing_trouble() -> None:
    async with talking(connector, PrometheusConfig(url="http://127.0.0.1:9")) as talk:
        assert (await talk.fails("healthcheck")).kind == ErrorKind.TRANSIENT
