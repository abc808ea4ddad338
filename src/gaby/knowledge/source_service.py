"""The sources of a workspace: added, listed, scheduled, opened and removed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, get_args
from uuid import UUID

from sqlalchemy import delete, func, select

from gaby.kernel.actors import Actor, Permission
from gaby.kernel.clock import Clock
from gaby.kernel.crypto import Vault
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory
from gaby.kernel.suggestions import unknown_name
from gaby.knowledge.citations.resolver import Citations
from gaby.knowledge.document_store import DocumentStore
from gaby.knowledge.models import KnowledgeDocument, KnowledgeFailure, KnowledgeSource
from gaby.knowledge.new_source import NewSource
from gaby.knowledge.sources.config import Kind, SourceConfig, SourceDependencies
from gaby.knowledge.sources.factory import check, make_source
from gaby.knowledge.sources.source import BadSource, DocumentSource
from gaby_connectors.sdk.manifest import Audience

LEARNED = "learned"
"""The source of what was learned and accepted. It is there by itself."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,58}")
_PURPOSE = "knowledge secret"
_SHORTEST = timedelta(minutes=1)
_LONGEST = timedelta(days=366)


class SourceExists(Conflict):
    """There is a source of that name already. Choose another name, or remove it first."""


class OnThisMachine(Forbidden):
    """Folders, files and repositories on Gaby's own machine are added by whoever manages the installation: on the
    command line, `gaby knowledge add`."""


class ComesByItself(Conflict):
    """What was learned and accepted is no source that is added, synced or removed. Look at `gaby knowledge learned`."""


@dataclass(frozen=True)
class SourceOverview:
    """A source with what is on it."""

    row: KnowledgeSource
    documents: int
    passages: int
    failed: int


SourceDependenciesFactory = Callable[[ReadSession], SourceDependencies]
"""What a source of the session's workspace may work with."""


class SourceService:
    def __init__(
        self,
        clock: Clock,
        ids: IdFactory,
        vault: Vault,
        library: DocumentStore,
        citations: Citations,
        make_dependencies: SourceDependenciesFactory,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._vault = vault
        self._library = library
        self._citations = citations
        self._make_dependencies = make_dependencies

    async def add(self, session: WriteSession, actor: Actor, new: NewSource) -> KnowledgeSource:
        config = checked_source(new)
        _check_audience(new.audience)
        if _needs_this_machine(new) and not actor.may(Permission.INSTALLATION_MANAGE):
            raise OnThisMachine
        if await self.find(session, new.name) is not None:
            raise SourceExists
        make_source(config, self._make_dependencies(session))  # What the installation does not allow is refused now.
        row = self._row(session, new)
        if new.secret is not None:
            row.secret = await self._vault.seal(session, _subject(row), new.secret, _PURPOSE)
        session.add(row)
        await session.flush()
        self._tell(
            session, actor, "knowledge.source_added", {"source": new.name, "kind": new.kind, "audience": new.audience}
        )
        return row

    async def learned(self, session: WriteSession) -> KnowledgeSource:
        """Made when the first thing is accepted."""
        row = await self.find(session, LEARNED)
        if row is None:
            row = self._row(session, NewSource(LEARNED, LEARNED, ""))
            session.add(row)
            await session.flush()
        return row

    async def reschedule(
        self, session: WriteSession, actor: Actor, row: KnowledgeSource, every: timedelta | None
    ) -> KnowledgeSource:
        _check_schedule(every)
        now = self._clock.now()
        row.every_seconds = None if every is None else int(every.total_seconds())
        row.due_at = None if every is None else max((row.fresh_at or now) + every, now)
        self._tell(session, actor, "knowledge.rescheduled", {"source": row.name, "every_seconds": row.every_seconds})
        return row

    async def set_audience(
        self, session: WriteSession, actor: Actor, row: KnowledgeSource, audience: str
    ) -> KnowledgeSource:
        """Who may be shown its pages, from now on. A page whose front matter names an audience keeps its own."""
        _check_audience(audience)
        before, row.audience = row.audience, audience
        detail = {"source": row.name, "audience": audience, "before": before}
        self._tell(session, actor, "knowledge.audience_changed", detail)
        return row

    async def remove(self, session: WriteSession, actor: Actor, row: KnowledgeSource) -> int:
        """With all its documents, at once. Says how many they were."""
        if row.kind == LEARNED:
            raise ComesByItself
        held = await self._library.held(session, row.id)
        await self._library.remove(session, list(held.values()))
        of_source = (KnowledgeFailure.workspace_id == session.workspace_id, KnowledgeFailure.source_id == row.id)
        await session.execute(delete(KnowledgeFailure).where(*of_source))
        await self._citations.forget(session, row.name)
        await self._vault.shred(session, _subject(row))
        await session.delete(row)
        self._tell(session, actor, "knowledge.source_removed", {"source": row.name, "documents": len(held)})
        return len(held)

    async def open(self, session: ReadSession, source_id: UUID) -> DocumentSource:
        row = await self.get(session, source_id)
        secret = (
            await self._vault.open(session, _subject(row), row.secret, _PURPOSE) if row.secret is not None else None
        )
        new = NewSource(
            row.name, row.kind, row.location, {key: str(value) for key, value in row.options.items()}, secret
        )
        return make_source(_config(new), self._make_dependencies(session))

    async def get(self, session: ReadSession, source_id: UUID, *, lock: bool = False) -> KnowledgeSource:
        source = KnowledgeSource
        query = select(source).where(source.workspace_id == session.workspace_id, source.id == source_id)
        row = (await session.scalars(query.with_for_update() if lock else query)).one_or_none()
        if row is None:
            raise NotFound("There is no such source of knowledge. `gaby knowledge list` shows them.")
        return row

    async def find(self, session: ReadSession, name: str) -> KnowledgeSource | None:
        source = KnowledgeSource
        query = select(source).where(source.workspace_id == session.workspace_id, source.name == name)
        return (await session.scalars(query)).one_or_none()

    async def named(self, session: ReadSession, name: str) -> KnowledgeSource:
        row = await self.find(session, name)
        if row is None:
            raise NotFound(f"There is no source {name[:60]!r} in this workspace. `gaby knowledge list` shows them.")
        return row

    async def list(self, session: ReadSession) -> Sequence[SourceOverview]:
        source, document = KnowledgeSource, KnowledgeDocument
        rows = (
            await session.scalars(
                select(source).where(source.workspace_id == session.workspace_id).order_by(source.name)
            )
        ).all()
        counted = (
            select(document.source_id, func.count(), func.sum(document.passages))
            .where(document.workspace_id == session.workspace_id)
            .group_by(document.source_id)
        )
        counts = {
            source_id: (documents, int(passages)) for source_id, documents, passages in await session.execute(counted)
        }
        return [
            SourceOverview(row, *counts.get(row.id, (0, 0)), await self.failure_count(session, row.id)) for row in rows
        ]

    async def overview(self, session: ReadSession, source_id: UUID) -> SourceOverview:
        row = await self.get(session, source_id)
        return next(each for each in await self.list(session) if each.row.id == row.id)

    async def ask_for_sync(self, session: WriteSession, actor: Actor, source_id: UUID) -> KnowledgeSource:
        """Whoever does the work in the background takes it up within seconds."""
        row = await self.get(session, source_id, lock=True)
        self.want_sync(row)
        self._tell(session, actor, "knowledge.sync_asked", {"source": row.name})
        return row

    def want_sync(self, row: KnowledgeSource) -> None:
        """Now, or once more when the one that runs is done: it may have passed by what is new."""
        if row.state == "running":
            row.again = True
        else:
            row.due_at = self._clock.now()

    async def failures(self, session: ReadSession, source_id: UUID, limit: int = 200) -> Sequence[KnowledgeFailure]:
        failure = KnowledgeFailure
        query = select(failure).where(failure.workspace_id == session.workspace_id, failure.source_id == source_id)
        return (await session.scalars(query.order_by(failure.uri).limit(limit))).all()

    async def failure_count(self, session: ReadSession, source_id: UUID) -> int:
        failure = KnowledgeFailure
        query = select(func.count()).where(failure.workspace_id == session.workspace_id, failure.source_id == source_id)
        return (await session.scalars(query)).one()

    def _row(self, session: WriteSession, new: NewSource) -> KnowledgeSource:
        now = self._clock.now()
        return KnowledgeSource(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            name=new.name,
            kind=new.kind,
            location=new.location,
            options=dict(new.options),
            created_at=now,
            audience=new.audience,
            every_seconds=None if new.every is None else int(new.every.total_seconds()),
            due_at=None if new.every is None else now,
        )

    @staticmethod
    def _tell(session: WriteSession, actor: Actor, name: str, payload: dict[str, Any]) -> None:
        session.emit(Event(name, session.workspace_id, actor, payload))


def _needs_this_machine(new: NewSource) -> bool:
    """Its files, or the keys of the account that Gaby runs under, as git over ssh does."""
    return new.is_a_file or (new.kind == "git" and not new.location.startswith("https://"))


def checked_source(new: NewSource) -> SourceConfig:
    """Raises with what to do, for anything that is wrong before the database or the source is asked."""
    if not _NAME.fullmatch(new.name) or new.name == LEARNED:
        raise Invalid("A source's name has small letters, digits and dashes, at most 59; `learned` is taken.")
    if new.kind == LEARNED:
        raise ComesByItself
    _check_schedule(new.every)
    config = _config(new)
    check(config)
    return config


def _config(new: NewSource) -> SourceConfig:
    kinds: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
    kind = kinds.get(new.kind)
    if kind is None:
        raise BadSource(unknown_name("kind of source", new.kind, sorted(kinds.keys() - {LEARNED})))
    return SourceConfig(kind, new.location, dict(new.options), new.secret)


def _check_audience(audience: str) -> None:
    if audience not in set(Audience):
        raise Invalid("The audience of a source is public, customers or staff.")


def _check_schedule(every: timedelta | None) -> None:
    if every is not None and not _SHORTEST <= every <= _LONGEST:
        raise Invalid("A source is synced at most every minute and at least once a year, or only when somebody asks.")


def _subject(row: KnowledgeSource) -> str:
    return f"knowledge-source:{row.id}"
