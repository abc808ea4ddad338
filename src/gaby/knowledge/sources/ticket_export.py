"""Reads the tickets of an export: JSON Lines or CSV, whatever its columns are called."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import orjson

from gaby.knowledge.sources.source import SourceUnavailable

_LONGEST_FIELD = 4_000_000
_NAMES: Mapping[str, Sequence[str]] = {
    "id": ("id", "ticketid", "ticketnumber", "ticket", "number", "key", "issuekey", "caseid", "casenumber"),
    "subject": ("subject", "title", "summary", "shortdescription", "name"),
    "description": ("description", "body", "question", "problem", "text", "details", "content"),
    "messages": ("messages", "comments", "conversation", "thread", "replies", "worknotes"),
    "resolution": ("resolution", "resolutionnotes", "closenotes", "solution", "answer", "fix", "resolutiontext"),
    "resolved_at": ("resolvedat", "closedat", "solvedat", "resolutiondate", "resolved", "closed", "dateresolved"),
    "status": ("status", "state", "ticketstatus"),
    "link": ("link", "url", "weburl", "permalink"),
}
_RESOLVED = frozenset({"resolved", "closed", "solved", "done", "fixed", "completed", "complete"})
_SAID_OF_MESSAGES = ("body", "text", "content", "message", "plain_body")


@dataclass(frozen=True)
class ExportedTicket:
    """A ticket that was resolved, as a desk keeps it."""

    id: str
    subject: str
    resolution: str
    messages: Sequence[str] = ()
    """What was written, from the first on."""
    resolved_at: str | None = None
    link: str | None = None


@dataclass(frozen=True)
class UnreadableTicket:
    """A part of the export that cannot be understood."""

    uri: str
    reason: str


@dataclass
class LastRows:
    """At which row each ticket is there for the last time."""

    rows: dict[str, int] = field(default_factory=dict[str, int])
    resolved: set[str] = field(default_factory=set[str])


class TicketExport:
    def __init__(self, path: Path, statuses: frozenset[str]) -> None:
        self._path = path
        self._resolved = _RESOLVED | statuses

    def count(self) -> LastRows:
        last = LastRows()
        for number, row in enumerate(self._rows()):
            name = "" if isinstance(row, UnreadableTicket) else _text(row.get("id"))
            if isinstance(row, UnreadableTicket) or not name:
                continue
            last.rows[name] = number
            last.resolved.discard(name)
            if self._ticket(row) is not None:
                last.resolved.add(name)
        return last

    def last_rows(self, last: LastRows) -> Iterator[ExportedTicket | UnreadableTicket]:
        """Of each ticket that is resolved, with what solved it. Others are left out."""
        for number, row in enumerate(self._rows()):
            if isinstance(row, UnreadableTicket):
                yield row
            elif last.rows.get(_text(row.get("id"))) == number and (ticket := self._ticket(row)) is not None:
                yield ticket

    def _ticket(self, row: Mapping[str, object]) -> ExportedTicket | None:
        status, resolution = _text(row.get("status")).lower(), _text(row.get("resolution"))
        resolved_at = _text(row.get("resolved_at"))
        is_resolved = status in self._resolved if status else bool(resolved_at)
        if not is_resolved or not resolution:
            return None
        said = [_text(row.get("description")), *_messages(row.get("messages"))]
        link = _text(row.get("link"))
        return ExportedTicket(
            _text(row.get("id")),
            _text(row.get("subject")),
            resolution,
            [words for words in said if words],
            resolved_at or None,
            link if link.startswith(("https://", "http://")) else None,
        )

    def _rows(self) -> Iterator[Mapping[str, object] | UnreadableTicket]:
        return self._csv() if self._path.suffix.lower() in {".csv", ".tsv"} else self._json_lines()

    def _json_lines(self) -> Iterator[Mapping[str, object] | UnreadableTicket]:
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row: object = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
                except ValueError:
                    if not line.endswith(b"\n"):
                        raise SourceUnavailable(
                            "The export breaks off in its last line. Is it being written?"
                        ) from None
                    row = None
                if isinstance(row, dict):
                    yield _renamed(cast("dict[str, Any]", row))
                else:
                    yield UnreadableTicket(f"line-{number}", "This line is no JSON object.")

    def _csv(self) -> Iterator[Mapping[str, object] | UnreadableTicket]:
        # The library's limit holds for the whole program, and is lower than the longest message of a desk.
        csv.field_size_limit(_LONGEST_FIELD)
        with self._path.open(encoding=_encoding(self._path), newline="", errors="replace") as file:
            reader = csv.DictReader(_without_nul(file), delimiter=_delimiter(self._path), restkey="")
            try:
                for row in reader:
                    yield _renamed(row)
            except csv.Error as error:
                raise SourceUnavailable(
                    f"The export cannot be read from line {reader.line_num} on: {error}."
                ) from error


def _renamed(row: Mapping[str, object]) -> Mapping[str, object]:
    """With the names that are used here. Of two columns that mean the same, the first that says something."""
    plain = {"".join(filter(str.isalnum, str(name).lower())): value for name, value in row.items()}
    return {
        meaning: next((plain[name] for name in names if plain.get(name)), None) for meaning, names in _NAMES.items()
    }


def _messages(value: object) -> list[str]:
    if isinstance(value, list):
        return [_message(each) for each in cast("list[object]", value)]
    return [_text(value)]


def _message(value: object) -> str:
    if isinstance(value, dict):
        said = cast("dict[str, Any]", value)
        return next((_text(said[name]) for name in _SAID_OF_MESSAGES if said.get(name)), "")
    return _text(value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _encoding(path: Path) -> str:
    """UTF-8 when all of it is, else what spreadsheets in the West write."""
    with path.open("rb") as file:
        if file.read(2) in {b"\xff\xfe", b"\xfe\xff"}:
            return "utf-16"
    try:
        with path.open(encoding="utf-8-sig") as file:
            while file.read(1_000_000):
                pass
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _delimiter(path: Path) -> str:
    """The one its first line has most of."""
    with path.open(encoding=_encoding(path), errors="replace") as file:
        first = file.readline(100_000)
    return max(",;\t", key=first.count)


def _without_nul(file: IO[str]) -> Iterator[str]:
    return (line.replace("\0", "") for line in file)
