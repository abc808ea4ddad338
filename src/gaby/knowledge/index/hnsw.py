"""Approximate search for workspaces that are too large for the exact one: a graph for each workspace and model.

One graph for all would be ranked before the workspace is looked at, and its shape would depend on other workspaces.
"""

from sqlalchemy import text

from gaby.kernel.database import ReadSession, WriteSession

EXACT_UP_TO = 50_000
"""Passages of a workspace. Below, an exact search takes milliseconds and misses nothing."""

_EF_SEARCH = 400
_MOST_DIMENSIONS = 2000
"""pgvector's graphs hold no more."""


async def use_graph(session: ReadSession, dimensions: int) -> str:
    """How the column must be spelled for the graph to serve. More is looked at than asked for, or recall suffers."""
    if dimensions > _MOST_DIMENSIONS:
        return ""
    await session.execute(text(f"SET LOCAL hnsw.ef_search = {_EF_SEARCH}"))
    return f"::vector({int(dimensions)})"


async def build_graph(session: WriteSession, model: str) -> bool:
    """By a function of the upgrade, since Gaby's own role may not change tables. False when there is one already, or
    when the vectors are too long for one."""
    query = text(
        "SELECT vector_dims(vector) FROM knowledge_vectors "
        "WHERE workspace_id = :workspace_id AND model = :model LIMIT 1"
    )
    index_name = (
        await session.execute(query, {"workspace_id": session.workspace_id, "model": model})
    ).scalar_one_or_none()
    if index_name is None or index_name > _MOST_DIMENSIONS:
        return False
    build = text("SELECT gaby_build_vector_graph(:place, :model, :dimensions)")
    values = {"place": session.workspace_id, "model": model, "dimensions": index_name}
    return bool((await session.execute(build, values)).scalar_one())
