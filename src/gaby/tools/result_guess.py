"""Whose the rows of a result probably are, and which of its fields the system itself has made, by its output schema."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from gaby.safety.manifest_guess import words_of
from gaby.safety.schemas import Schema, properties_of, resolved
from gaby_connectors.sdk.manifest import ResultLabel

_MOST_ROWS = 50
_DEEPEST = 4
_OWNER_FIELDS = (
    *("owner_email", "customer_email", "requester_email", "user_email", "account_email", "holder_email"),
    *("owner.email", "customer.email", "requester.email", "user.email", "account.email"),
    *("email", "mail", "email_address", "primary_email"),
)
"""The most telling first. An assignee or an author is not whose the row is."""
_PERSONAL = frozenset(words_of("birthdate birthday dob iban otp passport password passwd pin salary secret ssn token"))


class ResultRow(NamedTuple):
    path: str
    """Empty for the result as a whole."""
    fields: Mapping[str, Schema]


@dataclass(frozen=True)
class ResultGuess:
    owner: Mapping[str, str] = field(default_factory=dict[str, str])
    results: Mapping[str, ResultLabel] = field(default_factory=dict[str, ResultLabel])
    redact: tuple[str, ...] = ()
    whole_has_owner: str | None = None
    """A field of the result itself that looks like an owner; only rows below it can have one."""


def guess_result(output_schema: Mapping[str, Any] | None) -> ResultGuess:
    """Nothing, if the tool does not declare what it returns."""
    owner: dict[str, str] = {}
    results: dict[str, ResultLabel] = {}
    redact: list[str] = []
    whole: str | None = None
    for row in list(_rows(output_schema or {}))[:_MOST_ROWS]:
        # What stands inside of an owned row is its owner's already.
        inside = any(row.path.startswith((f"{above}.", f"{above}[")) for above in owner)
        owner_field = None if inside else _owner_field(row, output_schema or {})
        if owner_field is not None and row.path:
            owner[row.path] = owner_field
        elif owner_field is not None:
            whole = owner_field
        for name in row.fields:
            if not _plain_name(name):
                continue
            path = f"{row.path}.{name}" if row.path else name
            if name.casefold() in {"id", "uuid"}:
                results[path] = ResultLabel.SYSTEM
            if not _PERSONAL.isdisjoint(words_of(name)) and words_of(name)[-1] in _PERSONAL:
                redact.append(path)
    return ResultGuess(owner, results, tuple(redact), whole)


def _rows(schema: Schema) -> Iterator[ResultRow]:
    """Every object with named fields, in breadth; what loops ends at a few levels."""
    level: list[tuple[str, object]] = [("", schema)]
    for _ in range(_DEEPEST):
        below: list[tuple[str, object]] = []
        for path, declared in level[:_MOST_ROWS]:
            here = resolved(declared, schema)
            items = here.get("items")
            if isinstance(items, Mapping):
                below.append((f"{path}[]", cast("Schema", items)))
            fields = properties_of(declared, schema)
            if fields:
                yield ResultRow(path, fields)
            below += [(f"{path}.{name}" if path else name, each) for name, each in fields.items() if _plain_name(name)]
        level = below


def _owner_field(row: ResultRow, root: Schema) -> str | None:
    names = [name for name in _OWNER_FIELDS if _has(row.fields, name, root)]
    named = [name for name in names if name not in {"email", "mail", "email_address", "primary_email"}]
    # Two owners of one row contradict each other: a person has to say.
    return None if len(named) > 1 else named[0] if named else names[0] if names else None


def _has(fields: Mapping[str, Schema], name: str, root: Schema) -> bool:
    first, _, rest = name.partition(".")
    if first not in fields:
        return False
    if rest:
        return _has(properties_of(fields[first], root), rest, root)
    return resolved(fields[first], root).get("type") in {"string", None}


def _plain_name(name: str) -> bool:
    return name.isascii() and len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum()
