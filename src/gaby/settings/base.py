"""What all groups of settings share."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _duration(value: object) -> object:
    match = re.fullmatch(r"(\d{1,9})\s*(s|m|h|d)", value.strip()) if isinstance(value, str) else None
    return timedelta(seconds=int(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]) if match else value


Duration = Annotated[timedelta, BeforeValidator(_duration)]
"""A span of time as people write it: `90s`, `15m`, `12h`, `14d`; ISO 8601 works too."""


def written_duration(value: timedelta) -> str:
    """As `Duration` reads it, in the largest unit that needs no fraction: `15m`, `14d`."""
    seconds = value.total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and not seconds % size:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s" if seconds.is_integer() else f"PT{seconds:.6f}S"


OFTEN_ENOUGH = Field(ge=timedelta(seconds=1), le=timedelta(days=400))


class SettingsGroup(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)
