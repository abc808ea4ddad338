"""One query, read by Postgres' own parser: which functions, operators and types it names, however they are spelt.

`pgparse` holds the grammar of the server itself (libpg_query, BSD licence), so quoting, comments, Unicode escapes and
dollar quotes are what they are to the server. Kinds of syntax that are not known here are refused, not passed over.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pgparse

from gaby_connectors.sdk.errors import denied, invalid

Name = tuple[str, ...]
"""With its schema, where that is written."""

_QUERY = frozenset(
    (
        *("SelectStmt", "ResTarget", "RangeVar", "RangeSubselect", "RangeFunction", "JoinExpr", "Alias", "WithClause"),
        *("CommonTableExpr", "CTESearchClause", "CTECycleClause", "SortBy", "WindowDef", "GroupingSet", "List"),
        *("RangeTableSample", "RangeTableFunc", "RangeTableFuncCol", "TypeName", "ColumnDef"),
    )
)
_EXPRESSIONS = frozenset(
    (
        *("ColumnRef", "A_Star", "A_Const", "A_Expr", "A_ArrayExpr", "A_Indices", "A_Indirection", "BoolExpr"),
        *("NullTest", "BooleanTest", "CaseExpr", "CaseWhen", "CoalesceExpr", "MinMaxExpr", "SQLValueFunction"),
        *("FuncCall", "NamedArgExpr", "TypeCast", "CollateClause", "RowExpr", "SubLink", "GroupingFunc"),
        *("String", "Integer", "Float", "Boolean", "BitString", "XmlExpr", "XmlSerialize"),
    )
)
_KNOWN = _QUERY | _EXPRESSIONS
_SAMPLES = frozenset({("bernoulli",), ("system",)})
_MOST_NODES = 50_000
_LIBRARY: Any = pgparse
"""It has no types of its own."""


@dataclass(frozen=True)
class ParsedQuery:
    sql: bytes
    functions: frozenset[Name]
    operators: frozenset[Name]
    types: frozenset[str]
    fields: frozenset[str]
    """What stands behind a dot. To Postgres, `orders.total` may also mean `total(orders)`."""


def parse_query(text: str) -> ParsedQuery:
    """Raises unless it is exactly one query that only reads, as far as its syntax tells."""
    sql = text.strip().removesuffix(";").encode("utf-8", "replace")
    if not sql or b"\0" in sql:
        raise invalid("Bad arguments: `sql` must be one SELECT.")
    try:
        # What the server will see, in case a character could not be encoded.
        statements: list[dict[str, Any]] = _LIBRARY.parse(sql.decode())
    except _LIBRARY.PGQueryError as error:
        raise invalid(f"This is not SQL that can be read: {str(error)[:300]}") from None
    except RecursionError:
        raise invalid("The query is nested too deeply.") from None
    if len(statements) != 1 or "SelectStmt" not in statements[0].get("stmt", {}):
        raise denied("Only one SELECT, VALUES, TABLE or WITH query is allowed.")
    return _statement(sql, statements[0]["stmt"])


def _statement(sql: bytes, tree: Mapping[str, Any]) -> ParsedQuery:
    functions: set[Name] = set()
    operators: set[Name] = set()
    types: set[str] = set()
    fields: set[str] = set()
    for kind, node in _nodes(tree):
        _check_syntax(kind, node)
        if kind == "FuncCall":
            functions.add(_name(node["funcname"]))
        elif kind in ("A_Expr", "SubLink", "SortBy"):
            operators |= {_name(node[key]) for key in ("name", "operName", "useOp") if node.get(key)}
        elif kind in ("typeName", "TypeName"):
            types.add(_name(node["names"])[-1])
        elif kind == "ColumnRef":
            fields |= set(_name(node["fields"])[1:])
        elif kind == "A_Indirection":
            fields |= set(_name(node["indirection"]))
    return ParsedQuery(sql, frozenset(functions), frozenset(operators), frozenset(types), frozenset(fields))


def _check_syntax(kind: str, node: Mapping[str, Any]) -> None:
    if kind == "SelectStmt" and node.keys() & {"intoClause", "lockingClause"}:
        raise denied("SELECT INTO, FOR UPDATE and FOR SHARE are not allowed: they change or lock something.")
    if kind == "RangeTableSample" and _name(node["method"]) not in _SAMPLES:
        raise denied("Only the sampling methods BERNOULLI and SYSTEM are allowed.")
    if kind[:1].isupper() and kind not in _KNOWN and not kind.startswith("Json"):
        raise denied(f"{kind} is a kind of SQL that is not allowed here.")


def _nodes(tree: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every object in the tree with the name of its field or kind, without a stack."""
    waiting: list[tuple[str, Any]] = list(tree.items())
    left = _MOST_NODES
    while waiting:
        field, value = waiting.pop()
        left -= 1
        if left < 0:
            raise invalid("The query has too many parts.")
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            yield field, fields
            waiting.extend(fields.items())
        elif isinstance(value, list):
            # The kind of a part stands inside of it, so the name of a list is nobody's.
            waiting.extend(("", part) for part in cast("list[Any]", value))


def _name(parts: list[dict[str, Any]]) -> Name:
    return tuple(part["String"].get("sval", "") for part in parts if "String" in part)
