"""The corpus: all passages of a workspace together, their version, and the model whose vectors are searched."""

from sqlalchemy import select

from gaby.kernel.database import ReadSession, WriteSession
from gaby.knowledge.models import KnowledgeCorpus


async def corpus_of(session: ReadSession) -> KnowledgeCorpus | None:
    query = select(KnowledgeCorpus).where(KnowledgeCorpus.workspace_id == session.workspace_id)
    return (await session.scalars(query)).one_or_none()


async def changing(session: WriteSession, model: str) -> KnowledgeCorpus:
    """Locked until the end of the transaction, and of another version afterwards. `model` is for a first one."""
    query = select(KnowledgeCorpus).where(KnowledgeCorpus.workspace_id == session.workspace_id).with_for_update()
    corpus = (await session.scalars(query)).one_or_none()
    if corpus is None:
        corpus = KnowledgeCorpus(workspace_id=session.workspace_id, model=model)
        session.add(corpus)
    corpus.version += 1
    await session.flush()
    return corpus
