"""Machines are upgraded one by one, so each version must go on running on the tables of the next."""

from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

import gaby.migrations
from gaby.kernel.database import open_database
from gaby.migrations import upgrade

pytestmark = pytest.mark.promise("O4")

VERSIONS = sorted(path.name[:4] for path in (Path(gaby.migrations.__file__).parent / "versions").glob("[0-9]*.py"))


def columns(path: Path) -> dict[str, tuple[str, bool]]:
    """Each with its type, and whether a row may be written without it."""
    engine = create_engine(f"sqlite:///{path}")
    try:
        server_definitions = inspect(engine)
        return {
            f"{table}.{column['name']}": (str(column["type"]), column["nullable"] or column["default"] is not None)
            for table in server_definitions.get_table_names()
            for column in server_definitions.get_columns(table)
        }
    finally:
        engine.dispose()


def test_a_migration_takes_nothing_away_and_asks_nothing_new_of_old_tables(tmp_path: Path) -> None:
    assert len(VERSIONS) >= 2
    path = tmp_path / "gaby.db"
    before: dict[str, tuple[str, bool]] = {}
    for version in VERSIONS:
        upgrade(open_database(f"sqlite:///{path}"), version)
        after = columns(path)
        assert {name: after.get(name) for name in before} == before, version
        old_tables = {name.partition(".")[0] for name in before}
        added = {name: after[name] for name in after.keys() - before.keys() if name.partition(".")[0] in old_tables}
        assert all(may_be_left_out for _, may_be_left_out in added.values()), (version, added)
        before = after
