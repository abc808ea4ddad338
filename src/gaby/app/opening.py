"""What follows from the settings alone: the database's address, and Gaby's own."""

from gaby.kernel.database import Database, open_database
from gaby.settings import Settings


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
