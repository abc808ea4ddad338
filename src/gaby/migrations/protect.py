"""Postgres: the role that Gaby acts as, and the row-level security that binds it on every workspace table."""

from sqlalchemy import Connection, Table, text
from sqlalchemy.exc import ProgrammingError

from gaby.kernel.database import Base, workspace_tables
from gaby.kernel.database.faults import DatabaseRoleMissing, is_privilege_missing
from gaby.kernel.database.postgres import WORKSPACE_SETTING
from gaby.kernel.errors import Misconfigured
from gaby.migrations.inspect import VERSION_TABLE

APPEND_ONLY = "append_only"
"""Set in a table's `info`: its rows are never changed or deleted, so the role gets no right to."""

POLICY = "workspace"


def protect_workspaces(connection: Connection, role: str, login: str | None = None) -> None:
    """Idempotent, and run at every upgrade, so that no new table can be forgotten."""
    _create_role(connection, role, login)
    # Whoever may act as the role can tell the version, without owning the tables.
    connection.execute(text(f'GRANT SELECT ON {VERSION_TABLE} TO "{role}"'))
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
    protected = set(connection.execute(secured, {"policy": POLICY}).scalars())
    return [table.name for table in workspace_tables() if table.name not in protected]


def _create_role(connection: Connection, role: str, login: str | None) -> None:
    """What an administrator prepared is left as it is, so a login that may not create roles can still upgrade."""
    try:
        if not _has_role(connection, role):
            # Roles belong to the whole server: another database's upgrade may be creating it at this moment.
            _unless_just_done(connection, f'CREATE ROLE "{role}" NOLOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT')
        _refuse_powers(connection, role)
        for member in dict.fromkeys([connection.scalar(text("SELECT current_user")), login]):
            if member is not None and not _may_act_as(connection, member, role):
                _unless_just_done(connection, f'GRANT "{role}" TO {_quoted(connection, member)}')
    except ProgrammingError as error:
        if is_privilege_missing(error):
            raise DatabaseRoleMissing from error
        raise
    schema = connection.execute(text("SELECT quote_ident(current_schema())")).scalar_one()
    connection.execute(text(f'GRANT USAGE ON SCHEMA {schema} TO "{role}"'))


def _has_role(connection: Connection, role: str) -> bool:
    count = connection.scalar(text("SELECT count(*) FROM pg_roles WHERE rolname = :role"), {"role": role})
    return count == 1


def _may_act_as(connection: Connection, member: str, role: str) -> bool:
    # Since 16, whoever creates a role is a member of it that may grant it but not act as it.
    right = "SET" if (connection.dialect.server_version_info or ()) >= (16,) else "MEMBER"
    granted = text("SELECT pg_has_role(oid, :role, :right) FROM pg_roles WHERE rolname = :member")
    return bool(connection.scalar(granted, {"role": role, "right": right, "member": member}))


def _refuse_powers(connection: Connection, role: str) -> None:
    powers = text("SELECT rolsuper OR rolbypassrls OR rolcreaterole FROM pg_roles WHERE rolname = :role")
    if connection.scalar(powers, {"role": role}):
        raise Misconfigured(
            f"GABY_DATABASE_ROLE names {role}, which may bypass row-level security or manage roles. "
            "Name one that may not; Gaby creates it when it does not exist."
        )


def _unless_just_done(connection: Connection, statement: str) -> None:
    already = "duplicate_object OR unique_violation OR internal_error"
    connection.execute(text(f"DO $$ BEGIN {statement}; EXCEPTION WHEN {already} THEN NULL; END $$"))


def _quoted(connection: Connection, name: str) -> str:
    return str(connection.scalar(text("SELECT quote_ident(:name)"), {"name": name}))


def _grant(connection: Connection, table: Table, role: str) -> None:
    rights = "SELECT, INSERT" if table.info.get(APPEND_ONLY) else "SELECT, INSERT, UPDATE, DELETE"
    connection.execute(text(f'REVOKE ALL ON {table.name} FROM "{role}"'))
    connection.execute(text(f'GRANT {rights} ON {table.name} TO "{role}"'))


def _force_row_security(connection: Connection, table: Table) -> None:
    scope = f"current_setting('{WORKSPACE_SETTING}', true)"
    rule = f"{scope} = '*' OR workspace_id = nullif(nullif({scope}, ''), '*')::uuid"
    connection.execute(text(f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY"))
    connection.execute(text(f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY"))
    connection.execute(text(f"DROP POLICY IF EXISTS {POLICY} ON {table.name}"))
    connection.execute(text(f"CREATE POLICY {POLICY} ON {table.name} USING ({rule}) WITH CHECK ({rule})"))
