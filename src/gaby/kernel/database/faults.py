"""Database faults in the operator's words: unreachable, full, damaged, not ours, too new."""

from pathlib import Path

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from gaby.kernel.errors import Conflict, GabyError, Invalid, Unavailable


class DatabaseUnavailable(Unavailable):
    """The database cannot be reached or cannot be written now. Nothing was lost; try again shortly."""


class DatabaseDamaged(GabyError):
    """The database file is damaged or is not a database. Restore a backup, or point `GABY_DATABASE_URL` elsewhere;
    the file was left untouched."""

    exit_code = 3


class ForeignDatabase(GabyError):
    """The database holds tables of another program. Point `GABY_DATABASE_URL` at an empty one; nothing was written."""

    exit_code = 3


class SchemaTooNew(GabyError):
    """The database was made by a newer Gaby. Upgrade Gaby, or restore the backup taken before the upgrade;
    nothing was written."""

    exit_code = 3


class SchemaOutdated(GabyError):
    """The database lacks the tables of this version. Run `gaby db upgrade`."""

    status = 503
    exit_code = 3


class UpgradeForbidden(GabyError):
    """The login may not change the tables. Run `gaby db upgrade` with `GABY_DATABASE_MIGRATION_URL` set to one that
    may; nothing was written."""

    exit_code = 3


class DatabaseRoleMissing(GabyError):
    """The role that Gaby acts as in Postgres is missing or not granted to its login. Run `gaby db upgrade` with
    `GABY_DATABASE_MIGRATION_URL` set to a login that may create roles, or create and grant it yourself."""

    status = 503
    exit_code = 3


class VectorsMissing(GabyError):
    """This Postgres database lacks the extension `vector`, and the login may not add it. Install pgvector on the
    server, and have an administrator run `CREATE EXTENSION vector` in this database; then upgrade again."""

    status = 503
    exit_code = 3


_SQLITE_UNAVAILABLE = (
    "SQLITE_BUSY",
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_CANTOPEN",
    "SQLITE_READONLY",
    "SQLITE_LOCKED",
)
_SQLITE_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
# Connection exceptions, lack of resources (disk full among them), operator intervention, system errors.
_POSTGRES_UNAVAILABLE = ("08", "53", "57", "58", "25006", "40")
_NO_SUCH_TABLE = ("42P01", "42703")
_DOES_NOT_FIT = "A value does not fit the database. Check for NUL characters and for numbers out of range."


def unusable_file(path: Path, error: OSError) -> DatabaseUnavailable:
    return DatabaseUnavailable(
        f"The database file {path} cannot be opened: {error.strerror}. Make it with `gaby db upgrade`, mend its "
        "rights, or point GABY_DATABASE_URL elsewhere."
    )


def translate(error: SQLAlchemyError) -> Exception:
    """The error to raise instead; the same one when it is a bug rather than a fault."""
    if isinstance(error, PoolTimeout):
        return DatabaseUnavailable()
    if isinstance(error, IntegrityError):
        return Conflict("That already exists, or something it refers to is gone. Load it again and retry.")
    if isinstance(error, DBAPIError) and error.orig is not None:
        return translate_driver_error(error.orig) or error
    return error


def is_refused_write(error: SQLAlchemyError) -> bool:
    """Whether the engine itself stopped a write. In a session that reads, that is a bug and not a fault."""
    orig = error.orig if isinstance(error, DBAPIError) else None
    return getattr(orig, "sqlite_errorname", None) == "SQLITE_READONLY" or getattr(orig, "sqlstate", None) == "25006"


def translate_driver_error(error: BaseException) -> GabyError | None:
    name = getattr(error, "sqlite_errorname", None)
    if isinstance(name, str):
        return _of_sqlite(name, str(error))
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        return _of_postgres(state)
    # Without a state the server did not answer: refused, reset, timed out; or the driver refused the value itself.
    match type(error).__name__:
        case "OperationalError" | "InterfaceError" | "ConnectionTimeout":
            return DatabaseUnavailable()
        case "DataError":
            return Invalid(_DOES_NOT_FIT)
        case _:
            return None


def _of_sqlite(name: str, message: str) -> GabyError | None:
    if name.startswith(_SQLITE_UNAVAILABLE):
        return DatabaseUnavailable()
    if name.startswith(_SQLITE_DAMAGED):
        return DatabaseDamaged()
    if "no such table" in message or "no such column" in message:
        return SchemaOutdated()
    return None


def _of_postgres(state: str) -> GabyError | None:
    if state.startswith(_POSTGRES_UNAVAILABLE):
        return DatabaseUnavailable()
    if state in _NO_SUCH_TABLE:
        return SchemaOutdated()
    if state.startswith("22"):
        return Invalid(_DOES_NOT_FIT)
    return None


def is_privilege_missing(error: SQLAlchemyError) -> bool:
    """Whether Postgres refused because the login may not do this."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) == "42501"
