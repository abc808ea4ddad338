"""In how many passages of a workspace each term stands: kept beside the passages, so that asking costs nothing."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from sqlalchemy import Uuid, bindparam, delete, select, text

from gaby.kernel.database import ReadSession, WriteSession
from gaby.knowledge.models import KnowledgeTerm

_AT_ONCE = 500
_MOST_TERMS = 24
"""Of one query."""
_MOST_PASSAGES = 1500
"""That are scored for one query. Common words cost most and tell least."""
_LEAST_TERMS = 1
_EACH = {"sqlite": "json_each(:counts)", "postgresql": "json_each_text(CAST(:counts AS json))"}
_COUNT = (
    "INSERT INTO knowledge_terms (workspace_id, term, passages) "
    "SELECT :workspace_id, key, CAST(value AS integer) FROM {each} AS counted WHERE true "
    "ON CONFLICT (workspace_id, term) DO UPDATE SET passages = knowledge_terms.passages + excluded.passages "
    "WHERE knowledge_terms.workspace_id = :workspace_id"
)


async def having(session: ReadSession, terms: Iterable[str]) -> dict[str, int]:
    """Terms that stand nowhere are left out."""
    wanted = sorted(set(terms))
    counts: dict[str, int] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        query = select(KnowledgeTerm.term, KnowledgeTerm.passages).where(
            KnowledgeTerm.workspace_id == session.workspace_id,
            KnowledgeTerm.term.in_(wanted[start : start + _AT_ONCE]),
        )
        counts |= {term: count for term, count in await session.execute(query) if count > 0}
    return counts


async def count(session: WriteSession, passages: Iterable[Iterable[str]], *, less: bool = False) -> None:
    counts = Counter(chain.from_iterable(map(set, passages)))
    sign = -1 if less else 1
    given = {term: sign * counts[term] for term in sorted(counts)}  # In the order of the table, which is faster.
    if given:
        # All in one statement: row by row, the counts would take longer than the passages themselves.
        each = _EACH[session.get_bind().dialect.name]
        statement = text(_COUNT.format(each=each)).bindparams(bindparam("workspace_id", type_=Uuid()))
        await session.execute(statement, {"workspace_id": session.workspace_id, "counts": json.dumps(given)})
    if less:
        gone = (KnowledgeTerm.workspace_id == session.workspace_id, KnowledgeTerm.passages <= 0)
        await session.execute(delete(KnowledgeTerm).where(*gone))


async def forget(session: WriteSession) -> None:
    await session.execute(delete(KnowledgeTerm).where(KnowledgeTerm.workspace_id == session.workspace_id))


async def is_empty(session: ReadSession) -> bool:
    query = select(KnowledgeTerm.term).where(KnowledgeTerm.workspace_id == session.workspace_id).limit(1)
    return not (await session.scalars(query)).all()


def affordable(terms: Iterable[str], counts: Mapping[str, int]) -> Sequence[str]:
    """The rarest, as long as not too many passages have to be scored for them."""
    known = sorted({term for term in terms if term in counts}, key=lambda term: (counts[term], term))
    chosen: list[str] = []
    passages = 0
    for term in known[:_MOST_TERMS]:
        passages += counts[term]
        if passages > _MOST_PASSAGES and len(chosen) >= _LEAST_TERMS:
            break
        chosen.append(term)
    return chosen
