"""The table of people is made anew by a migration: nobody in it, and nothing that refers to them, is lost."""

from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, make_url, text
from sqlalchemy.exc import IntegrityError

from gaby.kernel.database import Database, open_database
from gaby.migrations import find_drift, upgrade

pytestmark = pytest.mark.promise("O4", "P4")

ADA, ACME, GLOBEX = ("0" * 31 + digit for digit in "abc")
PERSON = text(
    "INSERT INTO people (id, email, name, created_at, manages_installation, home_workspace_id) "
    "VALUES (:id, :email, 'x', '2030-01-01 00:00:00+00:00', :no, :home)"
)


def connected(database: Database) -> Connection:
    return create_engine(make_url(database.engine.migration_url())).connect()


def insert_people(connection: Connection) -> None:
    now, no = "2030-01-01 00:00:00+00:00", False
    connection.execute(text("INSERT INTO workspaces VALUES (:id, 'acme', 'Acme', :now)"), {"id": ACME, "now": now})
    person = "INSERT INTO people VALUES (:id, 'ada@acme.example', 'Ada', :now, 'a hash', :no, NULL)"
    connection.execute(text(person), {"id": ADA, "now": now, "no": no})
    member = "INSERT INTO memberships VALUES (:workspace, :person, 'owner', :now)"
    connection.execute(text(member), {"workspace": ACME, "person": ADA, "now": now})


def test_people_and_their_memberships_survive_and_addresses_are_unique_by_home(tmp_path: Path) -> None:
    """On SQLite, which cannot drop a constraint otherwise; Postgres alters the table in its place."""
    database = open_database(f"sqlite:///{tmp_path / 'gaby.db'}")
    upgrade(database, "0006")
    with connected(database) as connection:
        insert_people(connection)
        connection.commit()
    upgrade(database)
    assert find_drift(database) == []
    with connected(database) as connection:
        connection.execute(text("PRAGMA foreign_keys = ON"))
        referred = {
            key["referred_table"]
            for table in ("memberships", "sign_ins", "api_keys")
            for key in inspect(connection).get_foreign_keys(table)
        }
        assert referred == {"people", "workspaces"}
        kept = connection.execute(text("SELECT email, password_hash, home_workspace_id FROM people")).all()
        assert [tuple(row) for row in kept] == [("ada@acme.example", "a hash", None)]
        for number, (home, is_free) in enumerate([(None, False), (ACME, True), (ACME, False), (GLOBEX, True)]):
            person = {"id": f"{number + 100:032x}", "email": "ada@acme.example", "home": home, "no": False}
            if is_free:
                connection.execute(PERSON, person)
                continue
            with pytest.raises(IntegrityError), connection.begin_nested():
                connection.execute(PERSON, person)
        connection.engine.dispose()
