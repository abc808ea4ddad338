"""What an operator says to add a source. This file is light, since commands and routes read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

DESK = "desk"
"""The location of the tickets that people solved at the workspace's own desks."""
_FILES = frozenset({"folder", "file", "tickets"})


AUDIENCE_MEANS = {
    "public": "anybody may be answered from it, also people who cannot show who they are",
    "customers": "every verified requester may be answered from it, and nobody else outside",
    "staff": "only colleagues are shown its pages; a reply to a requester that repeats them waits for a person",
}
"""What follows from the audience of a source, in half a sentence."""


@dataclass(frozen=True)
class NewSource:
    name: str
    kind: str
    location: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    secret: str | None = field(default=None, repr=False)
    every: timedelta | None = None
    audience: str = "staff"
    """Who may be shown its pages: public, customers or staff."""

    @property
    def is_a_file(self) -> bool:
        """It lies on the machine that Gaby runs on."""
        return self.kind in _FILES and not (self.kind == "tickets" and self.location == DESK)
