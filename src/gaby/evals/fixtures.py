"""Fixtures: one folder for each ticket, with the world it comes from and what is expected of Gaby."""

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gaby.evals.errors import FixtureBroken, NothingToEvaluate
from gaby.evals.expectations import Expectation
from gaby.tickets.canonical_ticket import Author, IncomingMessage, IncomingTicket, Priority
from gaby_connectors.sdk.manifest import Autonomy

PartT = TypeVar("PartT", bound=BaseModel)
_MOST = 2_000_000
"""Characters of a file. A longer one is none of ours."""


class _FixtureFileBase(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FixtureMessage(_FixtureFileBase):
    author: Author = "requester"
    body: Annotated[str, Field(min_length=1)]


class TicketFile(_FixtureFileBase):
    title: str
    body: str
    requester_email: str | None = None
    requester_verified: bool = False
    priority: Priority = "medium"
    messages: tuple[FixtureMessage, ...] = ()
    automatic: bool = False
    """The desk itself says that no person wrote it."""

    def incoming(self, name: str) -> IncomingTicket:
        return IncomingTicket(
            external_id=f"eval-{name}",
            title=self.title,
            body=self.body,
            requester_email=self.requester_email,
            requester_verified=self.requester_verified,
            priority=self.priority,
            messages=tuple(
                IncomingMessage(
                    f"{name}-{number}",
                    each.author,
                    each.body,
                    author_email=self.requester_email,
                    verified_by="desk" if self.requester_verified else "nobody",
                )
                for number, each in enumerate(self.messages, 1)
            ),
            metadata={"automatic": True} if self.automatic else {},
        )


class PolicyFile(_FixtureFileBase):
    """What differs from how the sample company is usually connected."""

    autonomy: Autonomy | None = None
    write: tuple[str, ...] | None = None
    """Patterns of what may be changed."""
    stopped: Literal["workspace", "company"] | None = None
    """A kill switch is pulled."""
    quarantined: bool = False
    """The connector shows other tools than were accepted."""
    agent: dict[str, Any] = {}
    """As for `gaby agent set`: iterations, seconds, triage."""


class OperatorFile(_FixtureFileBase):
    """How somebody answers when Gaby asks."""

    answer: Literal["approve", "refuse", "never"] = "approve"
    reason: str = "As the fixture says."
    tools: dict[str, Literal["approve", "refuse", "never"]] = {}
    """For these tools another answer."""

    def on(self, tool: str) -> Literal["approve", "refuse", "never"]:
        return self.tools.get(tool, self.answer)


@dataclass(frozen=True)
class Fixture:
    name: str
    ticket: TicketFile
    expect: Expectation
    world: str = ""
    policy: PolicyFile = field(default_factory=PolicyFile)
    operator: OperatorFile = field(default_factory=OperatorFile)

    @property
    def moves_time(self) -> bool:
        """Somebody never answers, so that a day has to pass."""
        return "never" in {self.operator.answer, *self.operator.tools.values()}


def read_fixtures(folder: Path, only: Sequence[str] = ()) -> list[Fixture]:
    if not folder.is_dir():
        raise NothingToEvaluate(f"There is no folder {folder}. Say where the fixtures are with --fixtures DIR.")
    places = sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith((".", "_")))
    known = {place.name for place in places}
    if unknown := [name for name in only if name not in known]:
        raise FixtureBroken(f"There is no fixture {', '.join(unknown)} in {folder}.")
    wanted = [place for place in places if not only or place.name in only]
    if not wanted:
        raise NothingToEvaluate(f"There are no fixtures in {folder}, and an evaluation of nothing proves nothing.")
    return [read_fixture(place) for place in wanted]


def read_fixture(place: Path) -> Fixture:
    return Fixture(
        name=place.name,
        ticket=_part(place / "ticket.json", TicketFile, json.loads),
        expect=_part(place / "expect.toml", Expectation, tomllib.loads),
        world=_text(place / "world.sql") if (place / "world.sql").exists() else "",
        policy=_optional(place / "policy.json", PolicyFile),
        operator=_optional(place / "operator.json", OperatorFile),
    )


def _optional(path: Path, kind: type[PartT]) -> PartT:
    return _part(path, kind, json.loads) if path.exists() else kind()


def _part(path: Path, kind: type[PartT], parse: Callable[[str], Any]) -> PartT:
    text = _text(path)
    try:
        return kind.model_validate(parse(text))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise FixtureBroken(f"{path}: {where}: {first['msg']}.") from None
    except (ValueError, RecursionError) as error:
        raise FixtureBroken(f"{path} is no {path.suffix[1:].upper()}: {error}.") from None


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FixtureBroken(f"{path} is missing. Every fixture has a ticket.json and an expect.toml.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FixtureBroken(f"{path} cannot be read: {error}.") from None
    if len(text) > _MOST:
        raise FixtureBroken(f"{path} has {len(text)} characters, of at most {_MOST}.")
    return text
