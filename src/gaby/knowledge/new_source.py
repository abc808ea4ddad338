"""What an operator says to add a source. This file is light, since commands and routes read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True)
class NewSource:
    name: str
    kind: str
    location: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    secret: str | None = field(default=None, repr=False)
    every: timedelta | None = None
