"""The tools of the time connector."""

from datetime import UTC, datetime, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, Field

from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.errors import invalid
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.time.config import TimeConfig, known_zone

Zone = Annotated[
    str, AfterValidator(known_zone), Field(description="A time zone, such as Europe/Paris.", max_length=64)
]
Moment = Annotated[
    str,
    Field(
        description="A moment in ISO 8601, such as 2030-05-01T09:30 or 2030-05-01T09:30:00+02:00.",
        max_length=40,
        examples=["2030-05-01T09:30:00+00:00"],
    ),
]


class TimeBackend(Backend):
    config: TimeConfig

    def now(self) -> datetime:
        return datetime.now(UTC)

    def zone(self, name: str | None) -> ZoneInfo:
        return ZoneInfo(name or self.config.zone)

    async def check(self) -> str:
        return f"It is {self.now().isoformat(timespec='seconds')}."


class CurrentTime(BaseModel):
    time: str
    zone: str
    weekday: str
    unix: int


class ConvertedTime(BaseModel):
    time: str
    zone: str
    weekday: str
    utc_offset_hours: float


class TimeDifference(BaseModel):
    seconds: float
    days: float
    text: str


connector = Connector(
    "time",
    version="1.0.0",
    instructions="Times and time zones. Use it before saying when something happened in somebody's own time.",
    config=TimeConfig,
    backend=TimeBackend,
)
_ALL_OURS = {"*": ResultLabel.SYSTEM}


@connector.tool(ToolManifest(scope="read", path="time/now", cache=False, results=_ALL_OURS))
async def now(clock: TimeBackend, zone: Zone | None = None) -> CurrentTime:
    """Tell the time now, in a time zone if one is given."""
    there = clock.now().astimezone(clock.zone(zone))
    return CurrentTime(
        time=there.isoformat(timespec="seconds"), zone=_name(there), weekday=f"{there:%A}", unix=int(there.timestamp())
    )


@connector.tool(ToolManifest(scope="read", path="time/convert"))
async def convert(clock: TimeBackend, time: Moment, to_zone: Zone, from_zone: Zone | None = None) -> ConvertedTime:
    """Tell what a moment is called in another time zone."""
    there = _moment(clock, time, from_zone).astimezone(ZoneInfo(to_zone))
    offset = there.utcoffset() or timedelta()
    return ConvertedTime(
        time=there.isoformat(timespec="seconds"),
        zone=to_zone,
        weekday=f"{there:%A}",
        utc_offset_hours=offset.total_seconds() / 3600,
    )


@connector.tool(ToolManifest(scope="read", path="time/difference"))
async def difference(
    clock: TimeBackend, start: Moment, end: Moment, start_zone: Zone | None = None, end_zone: Zone | None = None
) -> TimeDifference:
    """Tell how much time lies between two moments, which may be given in different time zones."""
    between = _moment(clock, end, end_zone) - _moment(clock, start, start_zone)
    return TimeDifference(
        seconds=between.total_seconds(), days=round(between.total_seconds() / 86_400, 4), text=str(between)
    )


def _moment(clock: TimeBackend, text: str, zone: str | None) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
        # Without an offset of its own it is meant in the zone.
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=clock.zone(zone))).astimezone(UTC)
    except (ValueError, OverflowError):
        raise invalid(f"{text!r} is no moment in ISO 8601, such as 2030-05-01T09:30.") from None


def _name(moment: datetime) -> str:
    return moment.tzname() or "UTC"
