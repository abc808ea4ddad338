"""What an investigation did, whoever drove it: everything that a judge or a reader of the report needs."""

from dataclasses import dataclass, field
from typing import Any

from gaby.kernel.outcomes import CallOutcome
from gaby_connectors.sdk.manifest import Access


@dataclass(frozen=True)
class PlayedCall:
    tool: str
    """Without its connector's name."""
    arguments: dict[str, Any]
    access: Access
    outcome: CallOutcome
    reason: str = ""


@dataclass(frozen=True)
class PlayedStep:
    """Of the timeline."""

    system: str
    action: str
    detail: str = ""
    kind: str = "info"


@dataclass(frozen=True)
class PlayedPosting:
    body: str
    private: bool


@dataclass(frozen=True)
class PlayedRun:
    verdict: str
    """Where there is none, the state in which it stopped."""
    reasons: tuple[str, ...] = ()
    posted: tuple[PlayedPosting, ...] = ()
    calls: tuple[PlayedCall, ...] = ()
    asked: tuple[PlayedCall, ...] = ()
    effects: tuple[str, ...] = ()
    """Tools that changed something, as the company itself noted it."""
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """The text of everything that could be cited, by its token."""
    cited: str = ""
    """What was said with the tokens of its sources, which a requester is not shown."""
    timeline: tuple[PlayedStep, ...] = ()
    iterations: int = 0
    seconds: float = 0.0
    tokens: int = 0
    nano_usd: int = 0

    @property
    def said(self) -> str:
        return "\n\n".join(each.body for each in self.posted)

    @property
    def requester_text(self) -> str:
        return "\n\n".join(each.body for each in self.posted if not each.private)
