"""Every package's tables, gathered so that migrations and the drift check see them all."""

from typing import Any

import gaby.agent.models
import gaby.audit.models
import gaby.identity.models
import gaby.kernel.crypto.models
import gaby.kernel.database.references
import gaby.knowledge.models
import gaby.llm.embeddings.models
import gaby.llm.models
import gaby.tickets.models
import gaby.tools.models
import gaby.usage.models
import gaby.worker.models
from gaby.kernel.database import Base
from gaby.migrations.inspect import VERSION_TABLE

MODEL_MODULES = (
    gaby.agent.models,
    gaby.audit.models,
    gaby.identity.models,
    gaby.kernel.crypto.models,
    gaby.kernel.database.references,
    gaby.knowledge.models,
    gaby.llm.embeddings.models,
    gaby.llm.models,
    gaby.tickets.models,
    gaby.tools.models,
    gaby.usage.models,
    gaby.worker.models,
)


def ours(_item: Any, name: str | None, kind: str, *_rest: Any) -> bool:
    """Whether the drift check should look at it: Alembic's own table, and other programs' tables, are not ours."""
    return kind != "table" or (name in Base.metadata.tables and name != VERSION_TABLE)
