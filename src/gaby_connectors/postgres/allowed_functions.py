"""Which functions a query may call.

A read-only transaction keeps a query from writing to tables, and from nothing else: a function may end other people's
sessions, take locks, send notices, or run SQL that it is given as a text. No list of bad functions is ever complete, so
this allows instead: what Postgres ships and declares to have no effects (IMMUTABLE or STABLE), a few that are volatile
only because their answer changes, the same of extensions that are known to run no SQL they are given, and what the
operator names. The server's own catalogue is asked, before anything is planned, since planning evaluates functions.
That takes no rights which a role that reads would not have, works on a standby, and leaves nothing behind.

Not seen are functions inside views and row policies: those are their owner's choice, not the caller's.
"""

from importlib.resources import files
from typing import Any

from psycopg import AsyncConnection

from gaby_connectors.postgres.statement import Name, ParsedQuery
from gaby_connectors.sdk.errors import ToolError, denied

_VOLATILE = (
    *("random", "random_normal", "clock_timestamp", "timeofday", "gen_random_uuid", "uuidv4", "uuidv7"),
    *("array_sample", "array_shuffle", "pg_relation_size", "pg_table_size", "pg_indexes_size", "pg_database_size"),
    *("pg_total_relation_size", "pg_tablespace_size", "pg_is_in_recovery", "pg_last_xact_replay_timestamp"),
    *("pg_blocking_pids", "pg_partition_tree", "pg_partition_ancestors", "pg_current_wal_lsn"),
)
"""Shipped with Postgres: their answer changes from call to call, and that is all."""
_SIDE_EFFECTS = ("_to_xml", "^txid_current$", "^pg_current_xact_id$", "_validator$", "^pg_event_trigger_")
"""Declared without effects, and yet: they make queries from their arguments, or take a transaction id."""
_EXTENSIONS = (
    *("btree_gin", "btree_gist", "citext", "cube", "earthdistance", "fuzzystrmatch", "hstore", "intarray", "isn"),
    *("ltree", "pg_trgm", "seg", "unaccent", "vector"),
)
_QUERY = files(__package__ or "").joinpath("allowed.sql").read_bytes()


async def check_allowed(
    connection: AsyncConnection[tuple[Any, ...]], statement: ParsedQuery, named: tuple[str, ...]
) -> None:
    """`named` are the functions that the operator allows, as schema.name."""
    cursor = await connection.execute(
        _QUERY,
        {
            "acting": list(_SIDE_EFFECTS),
            "volatile": list(_VOLATILE),
            "extensions": list(_EXTENSIONS),
            "named": list(named),
            "functions": [name[-1] for name in statement.functions],
            "operators": [name[-1] for name in statement.operators],
            "fields": list(statement.fields),
            "types": list(statement.types),
        },
    )
    functions = [
        (str(kind), str(name), str(schema), bool(fine)) for kind, name, schema, fine in await cursor.fetchall()
    ]
    path = {name for kind, name, _, _ in functions if kind == "path"}
    for kind, names in (("function", statement.functions), ("operator", statement.operators)):
        known = {(name, schema): fine for each, name, schema, fine in functions if each == kind}
        for name in names:
            if not _is_allowed(name, known, path):
                raise _refusal(kind, ".".join(name))
    for kind, name, _, _ in functions:
        if kind in ("field", "type"):
            raise _refusal(f"function behind the {kind}", name)


def _is_allowed(name: Name, known: dict[tuple[str, str], bool], path: set[str]) -> bool:
    *schema, last = name
    wanted = set(schema) if schema else path
    candidates = [fine for (each, where), fine in known.items() if each == last and where in wanted]
    return len(schema) <= 1 and bool(candidates) and all(candidates)


def _refusal(kind: str, name: str) -> ToolError:
    return denied(
        f"The {kind} {name[:100]} is not allowed, since it may do more than read. Whoever set up this connector can "
        "name functions that are safe in POSTGRES_ALLOW_FUNCTIONS, such as public.order_total."
    )
