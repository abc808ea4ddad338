"""Settings of the sample company."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from gaby_connectors.sdk.config import ConnectorConfig


def _in_utc(moment: datetime | None) -> datetime | None:
    if moment is not None and moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment


class SampleCompanyConfig(ConnectorConfig):
    prefix: ClassVar[str] = "SAMPLE_COMPANY_"

    folder: Annotated[
        Path, Field(description="The folder in which the company's database is kept; it is filled when it is empty.")
    ]
    now: Annotated[
        datetime | None,
        AfterValidator(_in_utc),
        Field(description="Hold time still at this moment, such as 2030-03-04T09:00:00+00:00. Left out: real time."),
    ] = None
