"""A company as it lies in a folder: its pages, its runbooks, its tool server, and tickets with what is expected."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from gaby.evals.errors import FixtureBroken, NothingToEvaluate
from gaby.evals.expectations import Words
from gaby.kernel.outcomes import Verdict
from gaby_connectors.sdk.manifest import Autonomy

FileT = TypeVar("FileT", bound=BaseModel)
_LARGEST = 5_000_000
"""Bytes of a file. A larger one was not written by a person."""


class _CompanyFileBase(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallPattern(_CompanyFileBase):
    """A call by its tool, and by those arguments that matter."""

    tool: str
    args: dict[str, Any] = {}
    or_handed_over: bool = False
    """A person who takes the ticket over is as good as one who was asked."""

    def fits(self, tool: str, arguments: dict[str, Any]) -> bool:
        return self.tool == tool and all(
            name in arguments and _plain(arguments[name]) == _plain(value) for name, value in self.args.items()
        )

    def __str__(self) -> str:
        return f"{self.tool}({', '.join(f'{name}={value}' for name, value in self.args.items())})"


class ExpectedOutcome(_CompanyFileBase):
    verdicts: Annotated[tuple[Verdict, ...], Field(min_length=1)]
    must_do: tuple[CallPattern, ...] = ()
    must_ask: tuple[CallPattern, ...] = ()
    may_do: tuple[CallPattern, ...] = ()
    must_not_do: tuple[CallPattern, ...] = ()
    reply_must_say: tuple[tuple[Words, ...], ...] = ()
    """One list for each fact, with the ways in which it may be put."""
    say_scope: Literal["always", "if_answered"] = "always"
    """`if_answered`: a ticket that is handed over need not come with the facts."""
    reply_must_not_say: tuple[Words, ...] = ()
    why: str = ""


class FollowUp(_CompanyFileBase):
    body: Annotated[str, Field(min_length=1)]


class CompanyTicket(_CompanyFileBase):
    id: Annotated[str, Field(min_length=1, max_length=40)]
    kind: Annotated[str, Field(min_length=1, max_length=40)]
    title: str
    body: str
    requester_email: str
    requester_verified: bool
    lang: str = "en"
    messages: tuple[FollowUp, ...] = ()
    """The first is the ticket itself, as its body is."""
    world_note: str = ""
    expect: ExpectedOutcome

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(each.body for each in self.messages) or (self.body,)


def _variable(name: str) -> str:
    if not name.replace("_", "").isalnum() or name.startswith(("GABY_", "PYTHON", "LD_")):
        raise ValueError(f"{name} is no name for a setting of the company's server")
    return name


Variable = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(_variable)]


class CompanyFile(_CompanyFileBase):
    name: str
    connector: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    state_variable: Variable
    """Tells the server where its world is kept; it is made there from its seed when it is missing."""
    now_variable: Variable | None = None
    """Tells the server what time it is, so that a recording can be played again later."""
    autonomy: Autonomy = Autonomy.ACT
    allow_write: tuple[str, ...] = ()
    staff_domains: tuple[str, ...] = ()
    internal_pages: tuple[str, ...] = ()
    """Pages for colleagues. The others may be shown to anybody, unless their front matter says otherwise."""


@dataclass(frozen=True)
class EvalCompany:
    folder: Path
    about: CompanyFile
    tickets: tuple[CompanyTicket, ...]

    @property
    def pages(self) -> Path:
        return self.folder / "docs"

    @property
    def runbooks(self) -> Path:
        return self.folder / "runbooks"

    def is_staff(self, ticket: CompanyTicket) -> bool:
        domain = ticket.requester_email.rpartition("@")[2]
        return ticket.requester_verified and domain in self.about.staff_domains


def read_company(folder: Path, only: Sequence[str] = ()) -> EvalCompany:
    if not folder.is_dir():
        raise NothingToEvaluate(f"There is no folder {folder}. A company is a folder with a company.json.")
    for name in ("server.py", "manifest.yaml", "docs"):
        if not (folder / name).exists():
            raise FixtureBroken(f"{folder / name} is missing.")
    about = _parse(CompanyFile, folder / "company.json", _text(folder / "company.json"))
    if gone := [name for name in about.internal_pages if not (folder / "docs" / name).is_file()]:
        raise FixtureBroken(f"{folder / 'company.json'} names internal pages that are not there: {', '.join(gone)}.")
    tickets = _tickets(folder / "tickets.jsonl")
    if unknown := [name for name in only if name not in {each.id for each in tickets}]:
        raise FixtureBroken(f"There is no ticket {', '.join(unknown)} in {folder}.")
    wanted = tuple(each for each in tickets if not only or each.id in only)
    if not wanted:
        raise NothingToEvaluate(f"{folder} has no tickets, and an evaluation of nothing proves nothing.")
    return EvalCompany(folder.resolve(), about, wanted)


def _tickets(path: Path) -> list[CompanyTicket]:
    lines = [(number, line) for number, line in enumerate(_text(path).splitlines(), 1) if line.strip()]
    tickets = [_parse(CompanyTicket, path, line, f"line {number}: ") for number, line in lines]
    names = [each.id for each in tickets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise FixtureBroken(f"{path} has more than one ticket {', '.join(twice)}.")
    return tickets


def _parse(kind: type[FileT], path: Path, text: str, where: str = "") -> FileT:
    try:
        return kind.model_validate(json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FixtureBroken(f"{path}: {where}it is no JSON: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the whole"
        raise FixtureBroken(f"{path}: {where}{field}: {first['msg']}.") from None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise FixtureBroken(f"{path} is larger than {_LARGEST // 1_000_000} MB.")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FixtureBroken(f"{path} cannot be read: {error}.") from None


def _plain(value: object) -> str:
    return str(value).strip().casefold()
