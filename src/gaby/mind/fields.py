"""What a tool answered, as statements that a person can read: JSON, `key: value` lines and tables as `field: value`.

Values are copied as they are. Of a long row of numbers the first, the last, the lowest and the highest are given.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import orjson

from gaby.mind.key_sentences import is_courtesy
from gaby.mind.sentences import split
from gaby.mind.words import words

LONGEST = 200_000
_DEEPEST = 12
_MOST_RECORDS = 400
_ROW = 6
_LONG_VALUE = 400
_IDENTIFIES = (
    "id",
    "key",
    "name",
    "number",
    "code",
    "title",
    "label",
    "metric_name",
    "email",
    "username",
    "slug",
    "host",
)
_PAIR = re.compile(r"(?:[-*•] )?([A-Za-z*_`][\w /()*`.\-]{0,40}?)[ ]?[:=] ?(\S.{0,400})")
_RULE = re.compile(r"[|:\-\s+=]+")


@dataclass(frozen=True)
class NamedField:
    name: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.name}: {self.value}"


@dataclass(frozen=True)
class FieldStatement:
    """A sentence of prose, or one thing with what is known of it."""

    text: str = ""
    subject: str = ""
    fields: tuple[NamedField, ...] = ()


def statements(text: str) -> list[FieldStatement]:
    return list(_statements(text[:LONGEST]))


# The same pages and answers are read again whenever something is said about them.
@lru_cache(maxsize=256)
def _statements(text: str) -> Sequence[FieldStatement]:
    stripped = text.strip()
    if stripped[:1] in {"{", "["} and (statements := _from_json(stripped)):
        return statements
    lines = [line for line in stripped.splitlines() if line.strip()]
    if (table := _table(lines)) is not None:
        return table
    return list(_listing(stripped)) if _is_listing(lines) else list(_prose(text))


def _is_listing(lines: Sequence[str]) -> bool:
    """Mostly lines of `key: value`."""
    return len(lines) > 1 and sum(_PAIR.fullmatch(line.strip()) is not None for line in lines) >= 0.7 * len(lines)


def _listing(text: str) -> Iterator[FieldStatement]:
    """Each paragraph is one thing."""
    for block in re.split(r"\n\s*\n", text):
        fields: list[NamedField] = []
        for line in block.splitlines():
            if pair := _PAIR.fullmatch(line.strip()):
                fields.append(NamedField(pair[1].strip("*_` "), " ".join(pair[2].split())))
            elif line.strip():
                yield FieldStatement(text=" ".join(line.split()))
        if fields:
            yield FieldStatement(fields=tuple(fields))


def _prose(text: str) -> Iterator[FieldStatement]:
    for sentence in split(text):
        plain = sentence.plain.strip("`*_ ")
        says_little = sentence.kind in {"quote", "header"} or is_courtesy(sentence)
        if any(map(str.isdigit, plain)) or (any(map(str.isalnum, plain)) and not says_little):
            yield FieldStatement(text=plain)


def _from_json(text: str) -> list[FieldStatement]:
    try:
        value = orjson.loads(text.encode("utf-8", "replace"))
    except orjson.JSONDecodeError:
        return []
    return list(_records(value, "", "", 0))[:_MOST_RECORDS]


def _records(value: Any, name: str, owner: str, depth: int) -> Iterator[FieldStatement]:
    """Every object is a thing of its own; what lies in it and is no plain value comes after it and belongs to it."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        yield from _record(cast("Mapping[str, Any]", value), name, owner, depth)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _records(inner, name, owner, depth + 1)
    elif shown := _scalar(value):
        yield FieldStatement(subject=owner, fields=(NamedField(name, shown),)) if name else FieldStatement(text=shown)


def _record(record: Mapping[str, Any], name: str, owner: str, depth: int) -> Iterator[FieldStatement]:
    called, by = _subject(record)
    fields = [NamedField(_readable(key), shown) for key, inner in record.items() if (shown := _scalar(inner))]
    rest = tuple(field for field in fields if field.name != by)
    subject = " ".join(part for part in (owner, "" if called else name if owner else "", called) if part)
    if rest:
        yield FieldStatement(subject=subject, fields=rest)
    elif fields and not any(isinstance(inner, Mapping | list) for inner in record.values()):
        yield FieldStatement(subject=owner, fields=tuple(fields))
    for key, inner in record.items():
        if not _scalar(inner):
            yield from _records(inner, _readable(key), called or owner, depth + 1)


def _subject(record: Mapping[str, Any]) -> tuple[str, str]:
    """What a record is called, and which of its fields says so."""
    for wanted in _IDENTIFIES:
        for key, value in record.items():
            is_id = key.lower() == wanted or (wanted == "id" and key.lower().endswith("_id"))
            if is_id and isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return " ".join(str(value).split())[:80], _readable(key)
    return "", ""


def _scalar(value: Any) -> str:
    """A plain value, or a list of plain values, as it is shown; nothing for what is empty."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return " ".join(value.split())[:_LONG_VALUE]
    if isinstance(value, int | float):
        return str(value)
    if (
        isinstance(value, list)
        and value
        and all(isinstance(item, str | int | float) for item in cast("list[Any]", value))
    ):
        return _row(cast("list[Any]", value))
    return ""


def _row(values: Sequence[Any]) -> str:
    numbers = [item for item in values if isinstance(item, int | float) and not isinstance(item, bool)]
    if len(values) > _ROW and len(numbers) == len(values):
        return f"first {values[0]}, last {values[-1]}, lowest {min(numbers)}, highest {max(numbers)}"
    if len(values) > _ROW:
        return f"{', '.join(map(_scalar, values[:_ROW]))} and {len(values) - _ROW} more"
    return ", ".join(map(_scalar, values))


def _readable(key: str) -> str:
    return " ".join(words(key)) or key


def _table(lines: Sequence[str]) -> list[FieldStatement] | None:
    """Rows with bars, tabs, semicolons or commas between their cells, and a first row of names."""
    if len(lines) < 2:
        return None
    for separator in ("|", "\t", ";", ","):
        rows = [_cells(line, separator) for line in lines if not _RULE.fullmatch(line)]
        width = len(rows[0]) if rows else 0
        least = 2 if separator in "|\t" else 3
        if width >= least and len(rows) > 1 and all(len(row) == width for row in rows) and _are_names(rows[0]):
            return [_row_statement(rows[0], row) for row in rows[1:]][:_MOST_RECORDS]
    return None


def _cells(line: str, separator: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|" if separator == "|" else "").split(separator)]


def _are_names(cells: Sequence[str]) -> bool:
    return all(cell and len(cell) <= 40 and not cell[0].isdigit() and len(cell.split()) <= 4 for cell in cells)


def _row_statement(names: Sequence[str], cells: Sequence[str]) -> FieldStatement:
    fields = tuple(NamedField(_readable(name), cell) for name, cell in zip(names, cells, strict=True) if cell)
    if len(fields) > 1:
        return FieldStatement(subject=fields[0].value, fields=fields[1:])
    return FieldStatement(fields=fields)
