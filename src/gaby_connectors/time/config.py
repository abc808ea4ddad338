"""Settings of the time connector."""

from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from gaby_connectors.sdk.config import ConnectorConfig


def known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("is no time zone; use a name such as Europe/Paris or UTC") from None
    return name


class TimeConfig(ConnectorConfig):
    prefix: ClassVar[str] = "TIME_"

    zone: Annotated[
        str,
        AfterValidator(known_zone),
        Field(description="The time zone that is meant when nobody names one, such as Europe/Paris."),
    ] = "UTC"
