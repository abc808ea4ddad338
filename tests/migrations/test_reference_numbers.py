"""Rows that were there before references get their numbers in the order of their ids, in each workspace."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, create_engine, make_url, text

from gaby.kernel.database import Database, open_database
from gaby.migrations import find_drift, upgrade

pytestmark = pytest.mark.promise("O4")

ACME, GLOBEX = "0" * 31 + "a", "0" * 31 + "b"
APPROVAL = text(
    "INSERT INTO approvals (workspace_id, id, run_id, connector, tool, state, sealed_call, shown, concerns, dangerous, "
    "fingerprint, binding, requested_by, requested_at, expires_at, reason, modified, ticket, requester, "
    "requester_verified, effect, owners) VALUES (:workspace, :id, :id, 'crm', 'close', 'waiting', '', '{}', '[]', "
    ":no, '', '', 'gaby', :now, :now, '', :no, '', '', :no, '', '[]')"
)

BACK = (
    *(f"DROP INDEX ix_{table}_number" for table in ("tickets", "investigations", "approvals")),
    *(f"ALTER TABLE {table} DROP COLUMN number" for table in ("tickets", "investigations", "approvals")),
    "DROP TABLE reference_counters",
    "UPDATE gaby_schema SET version_num = '0016'",
)


@contextmanager
def connected(database: Database) -> Generator[Connection]:
    engine = create_engine(make_url(database.engine.migration_url()))
    try:
        with engine.connect() as connection:
            if database.dialect == "postgresql":
                # Row-level security binds the owner of the tables too.
                connection.execute(text("SELECT set_config('gaby.workspace_id', '*', false)"))
            yield connection
    finally:
        engine.dispose()


def test_old_rows_are_numbered_and_new_ones_go_on_from_there(empty_url: str) -> None:
    database = open_database(empty_url)
    upgrade(database)
    with connected(database) as connection:
        # As it was before: on Postgres an upgrade goes to the newest version only, whose tables it protects.
        for undo in BACK:
            connection.execute(text(undo))
        now = "2030-01-01 00:00:00+00:00"
        for slug, workspace in (("acme", ACME), ("globex", GLOBEX)):
            new = {"id": workspace, "slug": slug, "now": now}
            connection.execute(text("INSERT INTO workspaces VALUES (:id, :slug, 'x', :now)"), new)
        for workspace, number in ((ACME, 3), (ACME, 1), (GLOBEX, 2)):
            row = {"workspace": workspace, "id": f"{number:032x}", "now": now, "no": False}
            connection.execute(APPROVAL, row)
        connection.commit()
    upgrade(database)
    assert find_drift(database) == []
    with connected(database) as connection:
        found = connection.execute(text("SELECT workspace_id, id, number FROM approvals ORDER BY id")).all()
        assert [(_hex(row[0]), _hex(row[1])[-1], row[2]) for row in found] == [
            (ACME, "1", 1),
            (GLOBEX, "2", 1),
            (ACME, "3", 2),
        ]
        counters = connection.execute(text("SELECT workspace_id, prefix, last FROM reference_counters")).all()
        assert {(_hex(row[0]), row[1], row[2]) for row in counters} == {(ACME, "A", 2), (GLOBEX, "A", 1)}


def _hex(value: object) -> str:
    return str(value).replace("-", "")
