"""Opening what is cited: a document from any line on, and the lines that a token names, also after they changed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Invalid, NotFound
from gaby.kernel.ids import IdFactory
from gaby.knowledge.citations.tokens import CallCitation, LineCitation, parse
from gaby.knowledge.documents import content_hash
from gaby.knowledge.models import KnowledgeCitation, KnowledgeDocument, KnowledgeSource

State = Literal["current", "moved", "changed", "gone"]


@dataclass(frozen=True)
class DocumentExcerpt:
    """Some lines of a document. `lines` says how many there are in all."""

    document_id: UUID
    source: str
    uri: str
    title: str
    link: str | None
    first_line: int
    last_line: int
    lines: int
    text: str


@dataclass(frozen=True)
class ResolvedCitation:
    token: str
    state: State
    text: str
    """What was cited, as it was when it was cited."""
    opened: DocumentExcerpt | None = None
    """The document as it is now: the cited lines, or where they went. None when it is gone."""
    cited_at: datetime | None = None
    """None when no answer that was kept cites it."""


class Citations:
    def __init__(self, clock: Clock, ids: IdFactory) -> None:
        self._clock = clock
        self._ids = ids

    async def store(self, session: WriteSession, cited: Sequence[tuple[str, UUID, str]]) -> None:
        """What an answer cites, with its text: token, document and text. The documents count as used."""
        now = self._clock.now()
        insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
        # At one stroke and in one order: others cite the same page at the same moment.
        for token, _, text in sorted(set(cited)):
            row = {"id": self._ids.new(), "token": token, "text": text, "content_hash": content_hash(text)}
            new = insert(KnowledgeCitation).values(workspace_id=session.workspace_id, cited_at=now, **row)
            unique = ("workspace_id", "token", "content_hash")
            await session.execute(new.on_conflict_do_update(index_elements=unique, set_={"cited_at": now}))
        document = KnowledgeDocument
        for document_id, uses in sorted(Counter(each for _, each, _ in cited).items()):
            mine = (document.workspace_id == session.workspace_id, document.id == document_id)
            await session.execute(update(document).where(*mine).values(used_at=now, uses=document.uses + uses))

    async def forget(self, session: WriteSession, source: str) -> None:
        """Of a source that a person removed: what was cited from it goes too."""
        citation = KnowledgeCitation
        begins = f"doc:{source}/"
        where = (citation.workspace_id == session.workspace_id, citation.token.startswith(begins, autoescape=True))
        await session.execute(delete(citation).where(*where))

    async def latest(self, session: ReadSession, limit: int = 20) -> Sequence[str]:
        """What answers cited last."""
        citation = KnowledgeCitation
        query = select(citation.token).where(citation.workspace_id == session.workspace_id)
        return list(dict.fromkeys(await session.scalars(query.order_by(citation.cited_at.desc()).limit(limit))))

    async def open(self, session: ReadSession, document_id: UUID, first: int = 1, count: int = 200) -> DocumentExcerpt:
        row = await session.get(KnowledgeDocument, (session.workspace_id, document_id))
        if row is None:
            raise NotFound("There is no such document. `gaby knowledge search` finds them.")
        return await self._opened(session, row, first, first + count - 1)

    async def open_named(self, session: ReadSession, address: str, first: int = 1, count: int = 200) -> DocumentExcerpt:
        """By `SOURCE/URI`."""
        source, _, uri = address.partition("/")
        row = await self._find(session, source, uri)
        if row is None:
            raise NotFound(f"There is no document {address[:200]!r}. `gaby knowledge search` finds them.")
        return await self._opened(session, row, first, first + count - 1)

    async def resolve(self, session: ReadSession, token: str) -> ResolvedCitation:
        cited = parse(token.strip("[]"))
        if cited is None:
            raise Invalid("This is no citation. They look like doc:SOURCE/DOCUMENT#L12-L30, with or without brackets.")
        if isinstance(cited, CallCitation):
            raise Invalid("This cites the result of a tool; open the run that it belongs to.")
        kept = await self._kept(session, token.strip("[]"))
        row = await self._find(session, cited.source, cited.uri)
        if row is None:
            if kept is None:
                raise NotFound("There is no such document, and no answer that was kept cites it.")
            return ResolvedCitation(token, "gone", kept.text, None, kept.cited_at)
        if kept is None:
            opened = await self._opened(session, row, cited.first, cited.last)
            return ResolvedCitation(token, "current", opened.text, opened)
        return await self._compared(session, token, cited, kept, row)

    async def _compared(
        self, session: ReadSession, token: str, cited: LineCitation, kept: KnowledgeCitation, row: KnowledgeDocument
    ) -> ResolvedCitation:
        text = await _text(session, row)
        opened = _opened(row, cited.source, text, cited.first, cited.last)
        if kept.text in opened.text:
            return ResolvedCitation(token, "current", kept.text, opened, kept.cited_at)
        place = text.find(kept.text)
        if place >= 0:
            first = text.count("\n", 0, place) + 1
            moved = _opened(row, cited.source, text, first, first + cited.last - cited.first)
            return ResolvedCitation(token, "moved", kept.text, moved, kept.cited_at)
        return ResolvedCitation(token, "changed", kept.text, opened, kept.cited_at)

    async def _opened(self, session: ReadSession, row: KnowledgeDocument, first: int, last: int) -> DocumentExcerpt:
        source = await session.get(KnowledgeSource, (session.workspace_id, row.source_id))
        text = await _text(session, row)
        if first > row.lines:
            raise NotFound(f"The document has only {row.lines} lines.")
        return _opened(row, source.name if source is not None else "", text, first, last)

    @staticmethod
    async def _kept(session: ReadSession, token: str) -> KnowledgeCitation | None:
        citation = KnowledgeCitation
        query = select(citation).where(citation.workspace_id == session.workspace_id, citation.token == token)
        return (await session.scalars(query.order_by(citation.cited_at.desc()).limit(1))).one_or_none()

    @staticmethod
    async def _find(session: ReadSession, source: str, uri: str) -> KnowledgeDocument | None:
        place = session.workspace_id
        query = select(KnowledgeSource.id).where(KnowledgeSource.workspace_id == place, KnowledgeSource.name == source)
        source_id = (await session.scalars(query)).one_or_none()
        document = KnowledgeDocument
        if source_id is None:
            return None
        statement = select(document).where(
            document.workspace_id == place, document.source_id == source_id, document.uri == uri
        )
        return (await session.scalars(statement)).one_or_none()


def lines_of(text: str, first: int, last: int) -> str:
    return "\n".join(text.split("\n")[first - 1 : last])


def _opened(row: KnowledgeDocument, source: str, text: str, first: int, last: int) -> DocumentExcerpt:
    last = min(last, row.lines)
    return DocumentExcerpt(
        row.id, source, row.uri, row.title, row.link, first, last, row.lines, lines_of(text, first, last)
    )


async def _text(session: ReadSession, row: KnowledgeDocument) -> str:
    query = select(KnowledgeDocument.text).where(
        KnowledgeDocument.workspace_id == session.workspace_id, KnowledgeDocument.id == row.id
    )
    return (await session.scalars(query)).one()


def shortened(opened: DocumentExcerpt, most: int) -> DocumentExcerpt:
    """The beginning and the end of a long document, with what lies between named and not shown."""
    lines = opened.text.split("\n")
    if len(lines) <= most:
        return opened
    head, tail = lines[: most * 3 // 4], lines[-(most - most * 3 // 4) :]
    first, last = opened.first_line + len(head), opened.last_line - len(tail)
    between = f"... lines {first} to {last} are left out; open doc:{opened.source}/{opened.uri}#L{first}-L{last} ..."
    return replace(opened, text="\n".join([*head, between, *tail]))
