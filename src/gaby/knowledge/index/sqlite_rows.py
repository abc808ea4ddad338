"""Hundreds of rows in one statement of SQLite.

Row by row, the thread that writes would give up Python's lock after each and wait for it again, which takes longer than
the writing itself as soon as another thread prepares the next documents.
"""

import json
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import TextClause, Uuid, bindparam, text

from gaby.kernel.database import WriteSession
from gaby.knowledge.index.index import IndexEntry

_GIVEN = (
    "FROM (SELECT :workspace_id AS workspace_id, key, value FROM json_each(:rows)) AS given "
    "WHERE given.workspace_id = :workspace_id"
)
_TERMS = "INSERT INTO {} (rowid, terms) SELECT CAST(key AS integer), value FROM json_each(:rows)"


async def insert_passages(session: WriteSession, entries: Sequence[IndexEntry]) -> None:
    names = list(entries[0].columns)
    picked = ", ".join(f"json_extract(value, '$[{place}]')" for place in range(len(names)))
    columns = f"INSERT INTO knowledge_passages (workspace_id, {', '.join(names)}) SELECT :workspace_id, {picked} "
    rows = json.dumps([list(entry.columns.values()) for entry in entries], default=_stored)
    await session.execute(_scoped(columns + _GIVEN), {"workspace_id": session.workspace_id, "rows": rows})


async def insert_vectors(session: WriteSession, model: str, first: int, vectors: Sequence[bytes]) -> None:
    """Of passages that follow each other from `first`, all of them equally long."""
    columns = (
        "INSERT INTO knowledge_vectors (workspace_id, model, passage_id, vector) "
        "SELECT :workspace_id, :model, :first + key, substr(:vectors, key * :size + 1, :size) "
    )
    values = {
        "workspace_id": session.workspace_id,
        "model": model,
        "first": first,
        "vectors": b"".join(vectors),
        "size": len(vectors[0]),
        "rows": f"[{','.join(['0'] * len(vectors))}]",
    }
    await session.execute(_scoped(columns + _GIVEN), values)


async def insert_terms(session: WriteSession, table: str, entries: Sequence[IndexEntry]) -> None:
    rows = {entry.id: " ".join(entry.terms) for entry in entries}
    await session.execute(text(_TERMS.format(table)), {"rows": json.dumps(rows)})


def _scoped(statement: str) -> TextClause:
    return text(statement).bindparams(bindparam("workspace_id", type_=Uuid()))


def _stored(value: UUID) -> str:
    """As its column's type would write it."""
    return value.hex
