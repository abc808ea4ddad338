"""This room's tables, made by hand until a migration does. Then delete this file and its use in `conftest`."""

from typing import cast

from sqlalchemy import Table, create_engine, text

from gaby.kernel.database import Base, Database
from gaby.kernel.database.postgres import WORKSPACE_SETTING, PostgresEngine
from gaby.llm.embeddings.models import KeptVector, Reindexing
from gaby.migrations import upgrade
from gaby.migrations.protect import protect_workspaces

OURS = [cast("Table", model.__table__) for model in (KeptVector, Reindexing)]


def upgrade_with_ours(database: Database) -> None:
    for table in OURS:  # An upgrade protects every table it knows of, and these are not there yet.
        Base.metadata.remove(table)
    try:
        upgrade(database)
    finally:
        for table in OURS:
            Base.metadata._add_table(table.name, table.schema, table)  # pyright: ignore[reportPrivateUsage]
    engine = create_engine(database.engine.migration_url())
    with engine.begin() as connection:
        Base.metadata.create_all(connection, tables=OURS)
        if isinstance(database.engine, PostgresEngine):
            connection.execute(text(f"SELECT set_config('{WORKSPACE_SETTING}', '*', true)"))
            protect_workspaces(connection, database.engine.role, database.engine.login)
    engine.dispose()
