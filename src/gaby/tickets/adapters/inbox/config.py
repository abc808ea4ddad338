"""Settings of the built-in desk."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class InboxConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    folder: Annotated[
        Path | None,
        Field(description="A folder on Gaby's machine. Each .json or .eml file in it becomes a ticket."),
    ] = None
