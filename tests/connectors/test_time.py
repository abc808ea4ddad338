"""Time zones, told rightly."""

from datetime import UTC, datetime

import pytest

from gaby_connectors.sdk.manifest import ErrorKind
from gaby_connectors.time.config import TimeConfig
from gaby_connectors.time.tools import TimeBackend, connector
from tests.connectors.talk import talking

pytestmark = pytest.mark.promise("M6")


class HeldClock(TimeBackend):
    def now(self) -> datetime:
        return datetime(2030, 6, 1, 22, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connector, "backend", HeldClock)


async def test_now_is_told_in_the_zone_that_is_asked_for() -> None:
    async with talking(connector, TimeConfig(zone="Asia/Tokyo")) as talk:
        assert await talk.ask("now") == {
            "time": "2030-06-02T07:30:00+09:00",
            "zone": "JST",
            "weekday": "Sunday",
            "unix": 1906583400,
        }
        assert (await talk.ask("now", zone="America/New_York"))["time"] == "2030-06-01T18:30:00-04:00"


async def test_a_moment_is_converted_between_zones() -> None:
    async with talking(connector) as talk:
        there = await talk.ask("convert", time="2030-01-15T09:00", from_zone="Europe/Paris", to_zone="America/New_York")
        assert (there["time"], there["utc_offset_hours"]) == ("2030-01-15T03:00:00-05:00", -5.0)


async def test_an_offset_in_the_moment_wins_over_the_zone() -> None:
    async with talking(connector) as talk:
        there = await talk.ask("convert", time="2030-01-15T09:00+02:00", from_zone="Asia/Tokyo", to_zone="UTC")
        assert there["time"] == "2030-01-15T07:00:00+00:00"


async def test_differences_cross_zones_and_summer_time() -> None:
    async with talking(connector) as talk:
        told = await talk.ask(
            "difference",
            start="2030-03-30T12:00",
            start_zone="Europe/Paris",
            end="2030-03-31T12:00",
            end_zone="Europe/Paris",
        )
        assert told["seconds"] == 23 * 3600


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("now", {"zone": "Mars/Olympus"}),
        ("now", {"zone": "../../etc/passwd"}),
        ("convert", {"time": "yesterday", "to_zone": "UTC"}),
        ("convert", {"time": "9999-12-31T23:59", "to_zone": "Pacific/Kiritimati", "from_zone": "Etc/GMT+12"}),
    ],
)
async def test_what_is_no_time_is_refused(tool: str, arguments: dict[str, str]) -> None:
    async with talking(connector) as talk:
        assert (await talk.fails(tool, **arguments)).kind == ErrorKind.INVALID
