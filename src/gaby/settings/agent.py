"""Settings of the work itself: how tickets are investigated, and who does it."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from gaby.settings.base import OFTEN_ENOUGH, Duration, SettingsGroup


class AgentSettings(SettingsGroup):
    """How Gaby investigates, where a workspace says nothing else."""

    iterations: Annotated[
        int, Field(ge=1, le=100, description="Rounds of planning before an investigation gives up.")
    ] = 20
    max_time: Annotated[
        Duration,
        OFTEN_ENOUGH,
        Field(description="Working time before an investigation gives up. Waiting for people does not count."),
    ] = timedelta(minutes=15)
    max_wait: Annotated[
        Duration,
        Field(
            ge=timedelta(0),
            le=timedelta(days=1),
            description="How long an investigation waits in all for limits that pass, such as the calls that a "
            "connector may get in a minute. Then it goes on without the call and says so. A wait is no working time.",
        ),
    ] = timedelta(hours=2)
    max_outage: Annotated[
        Duration,
        Field(
            ge=timedelta(0),
            le=timedelta(days=1),
            description="Of these, how long it waits for connectors that cannot be used, or whose system asks to be "
            "called later.",
        ),
    ] = timedelta(minutes=10)
    triage: Annotated[bool, Field(description="Put aside tickets that need no investigation, such as advertising.")] = (
        True
    )


class WorkerSettings(SettingsGroup):
    """Who carries investigations on."""

    mode: Annotated[
        Literal["embedded", "procrastinate", "off"],
        Field(
            description="`embedded`: the server itself. `procrastinate`: `gaby worker` on any number of machines, over "
            "Postgres. `off`: nobody, tickets wait."
        ),
    ] = "embedded"
    slots: Annotated[
        int | None,
        Field(ge=1, le=256, description="Investigations at once in a process. Without it 8 on SQLite, 16 on Postgres."),
    ] = None
    lease: Annotated[
        Duration,
        Field(
            ge=timedelta(seconds=2),
            le=timedelta(hours=1),
            description="How long a worker may be silent before another one takes its investigation over.",
        ),
    ] = timedelta(seconds=60)
    poll_every: Annotated[
        Duration,
        Field(
            ge=timedelta(seconds=0),
            le=timedelta(minutes=5),
            description="How often workers look for tickets that nobody told them of.",
        ),
    ] = timedelta(seconds=2)
    degraded_above: Annotated[
        int,
        Field(
            ge=0,
            description="With more tickets than this waiting, those of low priority are looked into without the "
            "knowledge.",
        ),
    ] = 50
