"""Databases that Gaby must not touch: each is refused in clear words, and every byte of it stays as it was."""

import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from gaby.kernel.database import Database, open_database
from gaby.kernel.database.faults import DatabaseDamaged, DatabaseUnavailable, ForeignDatabase, SchemaTooNew
from gaby.kernel.errors import GabyError
from gaby.migrations import find_drift, inspect_schema, upgrade

pytestmark = pytest.mark.promise("O4", "O5")

LOOKS: list[Callable[[Database], object]] = [inspect_schema, upgrade, find_drift]


def run(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def random_bytes(path: Path, _migrated: Path) -> None:
    path.write_bytes(secrets.token_bytes(20_000))


def one_byte(path: Path, _migrated: Path) -> None:
    path.write_bytes(b"G")


def truncated(path: Path, migrated: Path) -> None:
    whole = migrated.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def truncated_header(path: Path, migrated: Path) -> None:
    path.write_bytes(migrated.read_bytes()[:50])


def damaged_list_of_tables(path: Path, migrated: Path) -> None:
    whole = migrated.read_bytes()
    path.write_bytes(whole[:100] + secrets.token_bytes(3_996) + whole[4_096:])


def somebody_elses(path: Path, _migrated: Path) -> None:
    run(path, "CREATE TABLE bookmarks (url TEXT)", "INSERT INTO bookmarks VALUES ('https://example.org')")


def somebody_elses_with_a_log(path: Path, _migrated: Path) -> None:
    run(path, "PRAGMA journal_mode = WAL", "CREATE TABLE bookmarks (url TEXT)")


def of_another_application(path: Path, _migrated: Path) -> None:
    run(path, "PRAGMA application_id = 1196444487", "CREATE TABLE gpkg_contents (name TEXT)")


def of_another_application_and_still_empty(path: Path, _migrated: Path) -> None:
    run(path, "PRAGMA application_id = 1196444487")


def with_a_table_named_like_ours(path: Path, _migrated: Path) -> None:
    run(path, "CREATE TABLE gaby_schema (version_num TEXT)", "INSERT INTO gaby_schema VALUES ('0001')")


def from_the_future(path: Path, migrated: Path) -> None:
    shutil.copyfile(migrated, path)
    run(path, "UPDATE gaby_schema SET version_num = '9999'")


def without_a_version(path: Path, migrated: Path) -> None:
    shutil.copyfile(migrated, path)
    run(path, "DELETE FROM gaby_schema")


BAD_FILES: list[tuple[Callable[[Path, Path], None], type[GabyError]]] = [
    (random_bytes, DatabaseDamaged),
    (one_byte, DatabaseDamaged),
    (truncated, DatabaseDamaged),
    (truncated_header, DatabaseDamaged),
    (damaged_list_of_tables, DatabaseDamaged),
    (somebody_elses, ForeignDatabase),
    (somebody_elses_with_a_log, ForeignDatabase),
    (of_another_application, ForeignDatabase),
    (of_another_application_and_still_empty, ForeignDatabase),
    (with_a_table_named_like_ours, ForeignDatabase),
    (from_the_future, SchemaTooNew),
    (without_a_version, SchemaTooNew),
]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(("make", "error"), BAD_FILES)
def test_a_file_that_is_not_ours_to_touch_is_refused_and_left_as_it_was(
    tmp_path: Path,
    migrated_file: Path,
    make: Callable[[Path, Path], None],
    error: type[GabyError],
    look: Callable[[Database], object],
) -> None:
    path = tmp_path / "gaby.db"
    make(path, migrated_file)
    before = contents(tmp_path)
    with pytest.raises(error):
        look(open_database(f"sqlite:///{path}"))
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mode) for path in folder.iterdir()}


def test_a_database_that_another_program_has_open_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "gaby.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("CREATE TABLE bookmarks (url TEXT)")
        before = contents(tmp_path)
        with pytest.raises(ForeignDatabase):
            upgrade(open_database(f"sqlite:///{path}"))
        after = contents(tmp_path)
        for name in ("gaby.db", "gaby.db-wal"):
            assert after[name] == before[name]
        assert after.keys() == before.keys()


def test_our_own_database_is_known_while_its_rows_are_still_in_the_log(tmp_path: Path, migrated_file: Path) -> None:
    shutil.copyfile(migrated_file, tmp_path / "gaby.db")
    database = open_database(f"sqlite:///{tmp_path / 'gaby.db'}")
    with closing(database.raw_connection()) as writer:
        writer.execute("UPDATE gaby_schema SET version_num = '9999'")
        with pytest.raises(SchemaTooNew):
            inspect_schema(database)


def a_folder(path: Path) -> Path:
    path.mkdir()
    return path


def under_a_file(path: Path) -> Path:
    path.write_text("I am a file")
    return path / "gaby.db"


def deep_under_a_file(path: Path) -> Path:
    return under_a_file(path).parent / "deep" / "gaby.db"


def behind_a_broken_link(path: Path) -> Path:
    path.symlink_to(path.parent / "nowhere" / "gaby.db")
    return path


def in_a_loop_of_links(path: Path) -> Path:
    path.symlink_to(path)
    return path


def with_an_endless_name(path: Path) -> Path:
    return path / ("x" * 300)


def where_nobody_may_write(path: Path) -> Path:
    return Path("/proc/gaby/gaby.db")


PLACES = [
    a_folder,
    under_a_file,
    deep_under_a_file,
    behind_a_broken_link,
    in_a_loop_of_links,
    with_an_endless_name,
    where_nobody_may_write,
]


@pytest.mark.parametrize("place", PLACES)
def test_a_place_where_no_file_can_be_is_named_with_the_reason(tmp_path: Path, place: Callable[[Path], Path]) -> None:
    path = place(tmp_path / "home")
    with pytest.raises(DatabaseUnavailable, match="cannot be opened") as caught:
        upgrade(open_database(f"sqlite:///{path}"))
    assert path.name in caught.value.message
    assert "GABY_DATABASE_URL" in caught.value.message
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("place", PLACES)
async def test_such_a_place_is_no_surprise_to_the_server_either(tmp_path: Path, place: Callable[[Path], Path]) -> None:
    database = open_database(f"sqlite:///{place(tmp_path / 'home')}")
    with pytest.raises(DatabaseUnavailable, match="cannot be opened"):
        await database.ping()
    await database.close()


SNAPSHOT = """
SELECT table_name, column_name, data_type, privilege_type FROM information_schema.columns
LEFT JOIN information_schema.table_privileges USING (table_schema, table_name)
WHERE table_schema = 'public' ORDER BY 1, 2, 3, 4
"""


def snapshot(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(SNAPSHOT).fetchall()


BAD_SCHEMAS: dict[str, tuple[str, type[GabyError]]] = {
    "a table": ("CREATE TABLE orders (id int)", ForeignDatabase),
    "a view": ("CREATE VIEW orders AS SELECT 1 AS id", ForeignDatabase),
    "a partitioned table": ("CREATE TABLE orders (id int) PARTITION BY RANGE (id)", ForeignDatabase),
    "a version from the future": (
        "CREATE TABLE gaby_schema (version_num text); INSERT INTO gaby_schema VALUES ('9999')",
        SchemaTooNew,
    ),
    "no version": ("CREATE TABLE gaby_schema (version_num text)", SchemaTooNew),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("what", BAD_SCHEMAS)
def test_a_schema_that_is_not_ours_to_touch_is_refused_and_left_as_it_was(
    empty_schema: str, what: str, look: Callable[[Database], object]
) -> None:
    statement, error = BAD_SCHEMAS[what]
    with psycopg.connect(empty_schema) as connection:
        connection.execute(statement.encode())
    before = snapshot(empty_schema)
    with pytest.raises(error):
        look(open_database(empty_schema))
    assert snapshot(empty_schema) == before


def test_tables_that_our_login_may_not_read_are_still_somebody_elses(empty_schema: str) -> None:
    with psycopg.connect(empty_schema) as connection:
        connection.execute("DROP ROLE IF EXISTS newcomer")
        connection.execute("CREATE ROLE newcomer LOGIN")
        connection.execute("GRANT CREATE ON SCHEMA public TO newcomer")
        connection.execute("CREATE TABLE orders (id int)")
    try:
        with pytest.raises(ForeignDatabase):
            upgrade(open_database(empty_schema.replace("postgres@", "newcomer@")))
    finally:
        with psycopg.connect(empty_schema) as connection:
            connection.execute("DROP OWNED BY newcomer; DROP ROLE newcomer")


def test_a_database_that_does_not_exist_is_unavailable(empty_schema: str) -> None:
    with pytest.raises(DatabaseUnavailable):
        upgrade(open_database(empty_schema + "_not"))


def test_errors_about_the_database_end_commands_with_a_code_of_their_own() -> None:
    assert [error.exit_code for error in (DatabaseDamaged, ForeignDatabase, SchemaTooNew)] == [3, 3, 3]
    assert DatabaseUnavailable.exit_code == 6
    assert os.EX_OK not in {3, 6}
