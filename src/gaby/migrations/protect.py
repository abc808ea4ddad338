"""Postgres: the role that Gaby acts as, and the row-level security that binds it on every workspace table."""

from sqlalchemy import Connection, Table, text

from gaby.kernel.database import Base, workspace_tables
from gaby.kernel.database.postgres import WORKSPACE_SETTING

APPEND_ONLY = "append_only"
"""Set in a table's `info`: its rows are never changed or deleted, so the role gets no right to."""

POLICY = "workspace"


def protect_workspaces(connection: Connection, role: str) -> None:
    """Idempotent, and run at every upgrade, so that no new table can be forgotten."""
    _create_role(connection, role)
    for table in Base.metadata.sorted_tables:
        _grant(connection, table, role)
    for table in workspace_tables():
        _force_row_security(connection, table)


def unprotected_tables(connection: Connection) -> list[str]:
    """Workspace tables on which row-level security is not forced, or that lack the policy."""
    secured = text(
        "SELECT c.relname FROM pg_class c JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = :policy "
        "WHERE c.relnamespace = current_schema()::regnamespace AND c.relrowsecurity AND c.relforcerowsecurity"
    )
    found = set(connection.execute(secured, {"policy": POLICY}).scalars())
    return [table.name for table in workspace_tables() if table.name not in found]


def _create_role(connection: Connection, role: str) -> None:
    # Roles belong to the whole server: another database's upgrade may be creating it at this moment.
    connection.execute(
        text(
            f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        )
    )
    connection.execute(
        text(
            f"DO $$ BEGIN GRANT {role} TO CURRENT_USER; "
            "EXCEPTION WHEN unique_violation OR internal_error THEN NULL; END $$"
        )
    )
    schema = connection.execute(text("SELECT quote_ident(current_schema())")).scalar_one()
    connection.execute(text(f"GRANT USAGE ON SCHEMA {schema} TO {role}"))


def _grant(connection: Connection, table: Table, role: str) -> None:
    rights = "SELECT, INSERT" if table.info.get(APPEND_ONLY) else "SELECT, INSERT, UPDATE, DELETE"
    connection.execute(text(f"REVOKE ALL ON {table.name} FROM {role}"))
    connection.execute(text(f"GRANT {rights} ON {table.name} TO {role}"))


def _force_row_security(connection: Connection, table: Table) -> None:
    scope = f"current_setting('{WORKSPACE_SETTING}', true)"
    rule = f"{scope} = '*' OR workspace_id = nullif(nullif({scope}, ''), '*')::uuid"
    connection.execute(text(f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY"))
    connection.execute(text(f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY"))
    connection.execute(text(f"DROP POLICY IF EXISTS {POLICY} ON {table.name}"))
    connection.execute(text(f"CREATE POLICY {POLICY} ON {table.name} USING ({rule}) WITH CHECK ({rule})"))
