"""The workspace guard: a statement on a workspace's table that does not bind that workspace is refused.

It reads the statement's structure once, when SQLAlchemy compiles it, and on each execution only compares values.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast
from weakref import WeakKeyDictionary

from sqlalchemy import (
    Alias,
    BindParameter,
    BooleanClauseList,
    ColumnElement,
    CompoundSelect,
    Connection,
    Delete,
    Executable,
    FromClause,
    Insert,
    Join,
    Select,
    Table,
    TableClause,
    TableSample,
    TextClause,
    Update,
    UpdateBase,
    event,
)
from sqlalchemy.engine import Compiled, Engine
from sqlalchemy.sql import operators, visitors
from sqlalchemy.sql.elements import BinaryExpression, ClauseElement, ColumnClause, Grouping
from sqlalchemy.sql.selectable import CTE, Subquery

from gaby.kernel.database.models import WORKSPACE_COLUMN, Base, is_workspace_table
from gaby.kernel.database.scope import AllWorkspaces, Scope
from gaby.kernel.errors import GabyError

SCOPE_OPTION = "gaby_scope"


class UnscopedStatement(GabyError):
    """A statement on a workspace's table did not name its workspace. This is a bug in Gaby; nothing was read or
    written."""


@dataclass(frozen=True)
class _Binding:
    """Which bound values of a compiled statement hold the workspace."""

    names: frozenset[str]
    fault: str | None = None


def install_guard(engine: Engine) -> None:
    def before_cursor_execute(connection: Connection, _cursor: object, sql: str, *rest: Any) -> None:
        _check(connection, sql, context=rest[1])

    event.listen(engine, "before_cursor_execute", before_cursor_execute)


_bindings: WeakKeyDictionary[Compiled, _Binding] = WeakKeyDictionary()
_NO_BINDING = _Binding(frozenset())


def _check(connection: Connection, sql: str, context: Any) -> None:
    scope: Scope | None = connection.get_execution_options().get(SCOPE_OPTION)
    if isinstance(scope, AllWorkspaces):
        return
    compiled: Compiled | None = context.compiled
    binding = _of_text(sql) if compiled is None else _of_compiled(compiled)
    if binding.fault is not None:
        raise UnscopedStatement(f"{UnscopedStatement().message} ({binding.fault})")
    if not binding.names:
        return
    for values in cast("list[dict[str, Any]]", context.compiled_parameters):
        for name in binding.names:
            if scope is None or values.get(name) != scope:
                raise UnscopedStatement(f"{UnscopedStatement().message} (it names another workspace than its session)")


def _of_compiled(compiled: Compiled) -> _Binding:
    known = _bindings.get(compiled)
    if known is None:
        known = _bindings[compiled] = _read(compiled)
    return known


def _read(compiled: Compiled) -> _Binding:
    state: Any = getattr(compiled, "compile_state", None)
    statement: Executable | None = getattr(state, "statement", None)
    if statement is None:
        statement = cast("Executable | None", compiled.statement)
    if isinstance(statement, TextClause):
        return _of_text(statement.text, binds=frozenset(statement.compile().params))
    if statement is None:
        return _NO_BINDING
    reader = _StatementInspector(compiled)
    try:
        _refuse_fragments(statement)
        reader.statement(statement)
    except UnscopedStatement as refused:
        return _Binding(frozenset(), fault=refused.message)
    return _Binding(frozenset(reader.names))


class _StatementInspector:
    def __init__(self, compiled: Compiled) -> None:
        bind_names = cast("dict[BindParameter[Any], str]", getattr(compiled, "bind_names", {}))
        self._bind_names = {bind.key: name for bind, name in bind_names.items()} | {
            name: name for name in bind_names.values()
        }
        self.names: set[str] = set()

    def statement(self, statement: Any) -> None:
        match statement:
            case Select():
                self._select(cast("Select[Any]", statement), outer=frozenset())
            case CompoundSelect():
                for part in cast("CompoundSelect[Any]", statement).selects:
                    self.statement(part)
            case Insert():
                self._insert(statement)
            case Update() | Delete():
                self._change(statement)
            case _:
                self._anything_else(statement)

    def _select(self, select: Select[Any], outer: frozenset[FromClause]) -> None:
        froms = list(_flatten(select.get_final_froms()))
        correlated = _correlated(select, froms, outer)
        own = [source for source in froms if source not in correlated]
        conditions = list(_on_clauses(select.get_final_froms()))
        if select.whereclause is not None:
            conditions.append(_Condition(select.whereclause))
        bound = self._bound(own, conditions, outer)
        self._nested(select, own, outer | frozenset(bound))

    def _insert(self, insert: Insert) -> None:
        self._nested(insert, [], frozenset())
        for part in _unlisted_parts(insert):
            self._anything_else(part)
        table = cast("Table", insert.table)
        if not is_workspace_table(table):
            return
        if not _conflicts_within_workspace(insert):
            raise UnscopedStatement(f"upsert into {table.name}, which may change a row of another workspace")
        columns = [name for name in self._bind_names.values() if re.fullmatch(rf"{WORKSPACE_COLUMN}(_m\d+)?", name)]
        if not columns:
            raise UnscopedStatement(f"insert into {table.name}")
        self.names.update(columns)

    def _change(self, change: Update | Delete) -> None:
        table = cast("Table", change.table)
        conditions = [] if change.whereclause is None else [_Condition(change.whereclause)]
        # Whatever else its columns come from is read too: UPDATE ... FROM, DELETE ... USING.
        sources = list(dict.fromkeys([_plain(table), *_sources(change)]))
        bound = self._bound(sources, conditions, frozenset())
        if is_workspace_table(table) and WORKSPACE_COLUMN in self._bind_names and isinstance(change, Update):
            self.names.add(WORKSPACE_COLUMN)  # A row cannot be moved to another workspace either.
        self._nested(change, sources, frozenset(bound))

    def _bound(
        self, sources: list[FromClause], conditions: list["_Condition"], outer: frozenset[FromClause]
    ) -> set[FromClause]:
        """The sources whose workspace is pinned to a bound value, directly or by equality with a pinned source."""
        pinned: set[FromClause] = set(outer) - set(sources)
        links: list[tuple[FromClause, FromClause]] = []
        for source, other in _workspace_equalities(conditions):
            other_source = _workspace_of(other)
            if isinstance(other, BindParameter):
                pinned.add(source)
                self.names.add(self._bind_names[other.key])
            elif other_source is not None:
                links.append((source, other_source))
        for _ in links:
            pinned |= {source for source, other in links if other in pinned}
        for source in sources:
            if _needs_workspace(source) and source not in pinned:
                raise UnscopedStatement(f"on {_name(source)}")
        return pinned

    def _nested(self, statement: Any, own: list[FromClause], outer: frozenset[FromClause]) -> None:
        """Subqueries: those in FROM stand alone, those in expressions may lean on the statement around them."""
        derived: set[int] = set()
        for source in own:
            inner = source.element if isinstance(source, Alias | Subquery | CTE) else None
            if inner is not None and not isinstance(inner, Table):
                derived.update(id(each) for each in visitors.iterate(inner))
                self.statement(inner)
        for each in _inner_statements(statement):
            if id(each) in derived:
                continue
            if isinstance(each, Select):
                self._select(cast("Select[Any]", each), outer)
            else:
                self.statement(each)

    def _anything_else(self, statement: Any) -> None:
        for element in visitors.iterate(statement):
            if isinstance(element, Table) and is_workspace_table(cast("Table", element)):
                raise UnscopedStatement(f"on {element.name}, by a kind of statement the guard cannot read")


def _own_elements(statement: Any) -> Iterator[Any]:
    """Everything directly inside this statement, down to the statements inside it but not into them."""
    stack = list(statement.get_children())
    while stack:
        element = stack.pop()
        yield element
        if not isinstance(element, Table | Select | UpdateBase):
            stack.extend(element.get_children())


def _inner_statements(statement: Any) -> Iterator[Any]:
    for element in _own_elements(statement):
        if isinstance(element, Select | UpdateBase):
            yield cast("Any", element)


def _sources(statement: Any) -> Iterator[FromClause]:
    for element in _own_elements(statement):
        if isinstance(element, ColumnClause) and element.table is not None:
            yield _plain(element.table)


def _unlisted_parts(insert: Insert) -> Iterator[Any]:
    """The expressions of an insert that SQLAlchemy does not list as its children."""
    rows: Any = getattr(insert, "_multi_values", ())
    upsert: Any = getattr(insert, "_post_values_clause", None)
    values = [value for batch in rows for row in batch for value in row.values()]
    values += cast("dict[Any, Any]", getattr(upsert, "update_values_to_set", None) or {}).values()
    values += [getattr(upsert, "update_whereclause", None), getattr(upsert, "inferred_target_whereclause", None)]
    return (value for value in values if isinstance(value, ClauseElement))


def _conflicts_within_workspace(insert: Insert) -> bool:
    upsert: Any = getattr(insert, "_post_values_clause", None)
    changes: Any = getattr(upsert, "update_values_to_set", None)
    if changes is None:
        return True
    named = {getattr(each, "name", each) for each in upsert.inferred_target_elements or ()}
    return WORKSPACE_COLUMN in named and WORKSPACE_COLUMN not in {getattr(each, "name", each) for each in changes}


def _refuse_fragments(statement: Any) -> None:
    """Text inside a statement is not read for what it binds, so it must not name a workspace's table at all."""
    for element in (part for whole in (statement, *_fragments_of(statement)) for part in visitors.iterate(whole)):
        match element:
            case TextClause():
                binding = _of_text(element.text)
            case ColumnClause() if element.is_literal:
                binding = _of_text(element.name)
            case TableClause() if not isinstance(element, Table):
                binding = _of_text(element.name)
            case _:
                continue
        if binding.fault is not None:
            raise UnscopedStatement(binding.fault)


def _fragments_of(statement: Any) -> Iterator[Any]:
    if isinstance(statement, Insert):
        yield from _unlisted_parts(statement)


def _correlated(select: Select[Any], froms: list[FromClause], outer: frozenset[FromClause]) -> set[FromClause]:
    """The sources that SQLAlchemy leaves to the statement around, as it does when others of its own remain."""
    if not getattr(select, "_auto_correlate", False):
        return set()
    shared = {source for source in froms if source in outer}
    return shared if len(shared) < len(froms) else set()


def _flatten(froms: Iterable[FromClause]) -> Iterator[FromClause]:
    for source in froms:
        if isinstance(source, Join):
            yield from _flatten([source.left, source.right])
        else:
            yield _plain(source)


@dataclass(frozen=True)
class _Condition:
    clause: ColumnElement[Any]
    filters: frozenset[FromClause] | None = None
    """The sources whose rows it can leave out; None when all. An outer join never leaves out rows of its left side."""


def _on_clauses(froms: Iterable[FromClause]) -> Iterator[_Condition]:
    for source in froms:
        if not isinstance(source, Join):
            continue
        if not source.full and source.onclause is not None:
            filters = frozenset(_flatten([source.right])) if source.isouter else None
            yield _Condition(source.onclause, filters)
        yield from _on_clauses([source.left, source.right])


def _workspace_equalities(conditions: Iterable[_Condition]) -> Iterator[tuple[FromClause, ColumnElement[Any]]]:
    for condition in conditions:
        for left, right in _equalities(condition.clause):
            for column, other in ((left, right), (right, left)):
                source = _workspace_of(column)
                if source is not None and (condition.filters is None or source in condition.filters):
                    yield source, other


def _equalities(clause: ColumnElement[Any]) -> Iterator[tuple[ColumnElement[Any], ColumnElement[Any]]]:
    """The equalities that must all hold. What stands under OR or NOT binds nothing."""
    match clause:
        case BooleanClauseList() if clause.operator is operators.and_:
            for part in clause.clauses:
                yield from _equalities(part)
        case Grouping():
            yield from _equalities(cast("ColumnElement[Any]", clause.element))
        case BinaryExpression() if clause.operator is operators.eq:
            yield clause.left, clause.right
        case _:
            pass


def _workspace_of(column: ColumnElement[Any]) -> FromClause | None:
    if isinstance(column, ColumnClause) and column.name == WORKSPACE_COLUMN and column.table is not None:
        return _plain(column.table)
    return None


def _needs_workspace(source: FromClause) -> bool:
    inner = source.element if isinstance(source, Alias | TableSample) else source
    return isinstance(inner, Table) and is_workspace_table(cast("Table", inner))


def _plain(source: FromClause) -> FromClause:
    """Without the ORM's annotations, so that the same table is the same object."""
    return cast("FromClause", getattr(source, "_deannotate", lambda: source)())


def _name(source: FromClause) -> str:
    inner = source.element if isinstance(source, Alias) else source
    return inner.name if isinstance(inner, Table) else str(inner)


@lru_cache(maxsize=512)
def _of_text(sql: str, binds: frozenset[str] = frozenset()) -> _Binding:
    words = set(re.findall(r"\w+", sql.lower()))
    touched = sorted(
        table.name for table in Base.metadata.tables.values() if is_workspace_table(table) and table.name in words
    )
    if not touched:
        return _NO_BINDING
    if WORKSPACE_COLUMN in binds and re.search(rf"\b{WORKSPACE_COLUMN}\s*=\s*:{WORKSPACE_COLUMN}\b", sql):
        return _Binding(frozenset([WORKSPACE_COLUMN]))
    return _Binding(frozenset(), fault=f"text on {', '.join(touched)}")
