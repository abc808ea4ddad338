"""Two workspaces side by side."""

import pytest

from gaby.kernel.database import Database
from tests.kernel.database.stories import A, B, add_group, add_workspaces


@pytest.fixture
async def two_workspaces(db: Database) -> Database:
    """A and B, with one group each: `of A` and `of B`."""
    await add_workspaces(db)
    await add_group(db, "of A", A)
    await add_group(db, "of B", B)
    return db
