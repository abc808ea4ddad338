"""How Alembic reaches the database: always over the connection that `upgrade` opened and locked."""

from alembic import context

from gaby.kernel.database import Base
from gaby.migrations.inspect import VERSION_TABLE

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Base.metadata, version_table=VERSION_TABLE)
context.run_migrations()
