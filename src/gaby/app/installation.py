"""What follows from the settings alone: the database's address, Gaby's own, and where the installation is expected."""

import os
from pathlib import Path
from typing import Literal

from sqlalchemy import make_url

from gaby.kernel.database import Database, open_database
from gaby.kernel.database.faults import SchemaOutdated
from gaby.kernel.errors import GabyError
from gaby.migrations import inspect_schema, upgrade
from gaby.settings import Settings


class NotInstalled(GabyError):
    """There is no installation of Gaby here. `gaby serve` or `gaby db upgrade` creates one."""

    status = 503
    exit_code = 3


def configured_url(settings: Settings) -> str:
    """How browsers reach Gaby, as far as the settings tell."""
    host = "127.0.0.1" if settings.server.host in {"0.0.0.0", "::"} else settings.server.host  # noqa: S104
    return (settings.server.public_url or f"http://{host}:{settings.server.port}").rstrip("/")


def open_configured_database(settings: Settings) -> Database:
    migration_url = settings.database.migration_url
    return open_database(
        settings.database_url,
        role=settings.database.role,
        migration_url=migration_url.get_secret_value() if migration_url is not None else None,
        pool_size=settings.database.pool_size,
    )


def require_installation(settings: Settings) -> None:
    """Raise unless the tables are up to date. To be called before anything is used, which creates keys and folders."""
    state = inspect_schema(open_configured_database(settings))
    if state == "empty":
        raise NotInstalled(explain_missing(settings))
    if state != "current":
        raise SchemaOutdated


def prepare_installation(settings: Settings) -> bool:
    """Whether a fresh installation was made. Only on SQLite: the tables of a server are for its owner to make."""
    database = open_configured_database(settings)
    if database.dialect != "sqlite" or not settings.database.auto_upgrade or inspect_schema(database) != "empty":
        require_installation(settings)
        return False
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    upgrade(database)
    return True


def explain_missing(settings: Settings) -> str:
    """Where an installation was looked for, which setting says so, and what to do."""
    where, why, variable = _expected_in_database(settings) if settings.database.url else _expected_in_home(settings)
    return (
        f"There is no installation {where}. {why} `gaby serve` or `gaby db upgrade` creates one there; if yours is "
        f"elsewhere, set {variable}."
    )


_Variable = Literal["GABY_HOME", "GABY_DATABASE_URL"]


def _expected_in_home(settings: Settings) -> tuple[str, str, _Variable]:
    home = settings.home
    where = f"at {home.absolute()}"
    if "home" not in settings.model_fields_set:
        return where, f"GABY_HOME is not set, so it is {home} in the current folder.", "GABY_HOME"
    why = f"GABY_HOME{_from_file('GABY_HOME')} is {home}"
    return where, f"{why}." if home.is_absolute() else f"{why}, relative to the current folder.", "GABY_HOME"


def _expected_in_database(settings: Settings) -> tuple[str, str, _Variable]:
    given, url = settings.database_url, make_url(settings.database_url)
    path = given.removeprefix("sqlite:///")
    named = str(Path(path).absolute()) if path != given else f"{url.database} on {url.host or 'this machine'}"
    why = f"GABY_DATABASE_URL{_from_file('GABY_DATABASE_URL')} names it."
    return f"in the database {named}", why, "GABY_DATABASE_URL"


def _from_file(variable: str) -> str:
    given = os.environ.get(variable) or os.environ.get(f"{variable}_FILE")
    return "" if given else " in the file .env"
