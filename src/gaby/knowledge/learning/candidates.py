"""Candidates: what Gaby would like to learn from resolved tickets. A person accepts, edits or rejects each."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from uuid import UUID

from sqlalchemy import select

from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Invalid, NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import IdFactory, WorkspaceId
from gaby.knowledge.learning.gate import KEPT, GateResult, Resolution, gate
from gaby.knowledge.learning.similarity import likeness
from gaby.knowledge.models import STAGED, KnowledgeCandidate
from gaby.knowledge.source_service import SourceService
from gaby.knowledge.sources.generated_documents import GeneratedDocument

_ALIKE = 0.8
_ALIKE_SOLVED = 0.6
_RESOLUTION = "\n## Resolution\n"
_LOOKED_AT = "\n## What was looked at\n"
_TITLE = 300
_TEXT = 50_000
_ORIGIN = 200
_ORIGINS = 50

Redact = Callable[[str], str]
"""Takes personal data out of a text."""


class AlreadyDecided(Conflict):
    """Somebody decided this already. Load it again to see how."""


class Candidates:
    def __init__(
        self, database: Database, clock: Clock, ids: IdFactory, sources: SourceService, redact: Redact
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._sources = sources
        self._redact = redact

    async def stage(
        self, session: WriteSession, actor: Actor, resolution: Resolution
    ) -> tuple[GateResult, KnowledgeCandidate | None]:
        """Nothing is learned by this: it only waits for a person. Without personal data, and once for alike ones."""
        passed = gate(resolution, now=self._clock.now())
        if not passed.passed:
            return passed, None
        title = self._redact(resolution.title)[:_TITLE]
        text = self._redact(_markdown(resolution))[:_TEXT]
        origin = resolution.origin[:_ORIGIN]
        same = await self._like(session, title, text)
        if same is not None and origin in (same.origin, *same.origins):
            return passed, same
        if same is not None:
            same.seen += 1
            same.origins = [*same.origins, origin][-_ORIGINS:]
            self._tell(session, actor, "knowledge.candidate_merged", same)
            return passed, same
        row = KnowledgeCandidate(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            title=title,
            text=text,
            origin=origin,
            rating=resolution.rating,
            staged_at=self._clock.now(),
        )
        session.add(row)
        await session.flush()
        self._tell(session, actor, "knowledge.candidate_staged", row)
        return passed, row

    async def list(
        self, session: ReadSession, state: str | None = "staged", limit: int = 200
    ) -> Sequence[KnowledgeCandidate]:
        query = select(KnowledgeCandidate).where(KnowledgeCandidate.workspace_id == session.workspace_id)
        if state is not None:
            query = query.where(KnowledgeCandidate.state == state)
        return (await session.scalars(query.order_by(KnowledgeCandidate.staged_at.desc()).limit(limit))).all()

    async def get(self, session: ReadSession, candidate_id: UUID) -> KnowledgeCandidate:
        candidate = KnowledgeCandidate
        query = select(candidate).where(candidate.workspace_id == session.workspace_id, candidate.id == candidate_id)
        row = (await session.scalars(query.with_for_update())).one_or_none()
        if row is None:
            raise NotFound("There is no such candidate. `gaby knowledge learned` shows them.")
        return row

    async def accept(
        self,
        session: WriteSession,
        actor: Actor,
        row: KnowledgeCandidate,
        *,
        title: str | None = None,
        text: str | None = None,
    ) -> KnowledgeCandidate:
        """From now on it is a document like any other, as it stands or as the person edited it."""
        _undecided(row)
        title = row.title if title is None else title[:_TITLE]
        text = row.text if text is None else text
        if not title.strip() or not text.strip() or len(text) > _TEXT:
            raise Invalid(f"A document needs a title and a text of at most {_TEXT} characters.")
        row.edited = (title, text) != (row.title, row.text)
        row.title, row.text = title, text
        self._decide(row, actor, "accepted", None)
        self._sources.want_sync(await self._sources.learned(session))  # The next sync indexes it.
        self._tell(session, actor, "knowledge.candidate_accepted", row)
        return row

    async def reject(
        self, session: WriteSession, actor: Actor, row: KnowledgeCandidate, reason: str
    ) -> KnowledgeCandidate:
        """The same will not be asked again."""
        _undecided(row)
        if not reason.strip():
            raise Invalid("Say why, so that whoever looks later understands.")
        self._decide(row, actor, "rejected", reason[:1000])
        self._tell(session, actor, "knowledge.candidate_rejected", row)
        return row

    async def unlearn(
        self, session: WriteSession, actor: Actor, row: KnowledgeCandidate, reason: str
    ) -> KnowledgeCandidate:
        """What was accepted leaves the knowledge again."""
        if row.state != "accepted":
            raise Conflict("Only what was accepted can be taken back.")
        if not reason.strip():
            raise Invalid("Say why, so that whoever looks later understands.")
        self._decide(row, actor, "rejected", reason[:1000])
        self._sources.want_sync(await self._sources.learned(session))
        self._tell(session, actor, "knowledge.candidate_rejected", row)
        return row

    async def archive_old(self) -> int:
        """What nobody looked at for 30 days. It can still be read, and is not asked again."""
        before = self._clock.now() - KEPT
        candidate = KnowledgeCandidate
        async with self._database.read(AllWorkspaces("candidates grow old in every workspace")) as session:
            query = select(candidate.workspace_id).where(STAGED, candidate.staged_at <= before)
            places = sorted(set((await session.scalars(query)).all()))
        archived = 0
        for place in places:
            async with self._database.write(WorkspaceId(place)) as session:
                old = select(candidate).where(
                    candidate.workspace_id == place, candidate.state == "staged", candidate.staged_at <= before
                )
                for row in (await session.scalars(old.with_for_update())).all():
                    row.state, row.decided_at = "archived", self._clock.now()
                    self._tell(
                        session, system_actor("schedule", WorkspaceId(place)), "knowledge.candidate_archived", row
                    )
                    archived += 1
        return archived

    async def accepted(self, workspace_id: WorkspaceId) -> Sequence[GeneratedDocument]:
        """As documents of the source of what was learned."""
        async with self._database.read(workspace_id) as session:
            candidate = KnowledgeCandidate
            query = select(candidate).where(candidate.workspace_id == workspace_id, candidate.state == "accepted")
            rows = (await session.scalars(query.order_by(candidate.id))).all()
        return [
            GeneratedDocument(
                f"{row.id}.md", sha256(f"{row.title}\n{row.text}".encode()).hexdigest(), row.title, row.text
            )
            for row in rows
        ]

    async def _like(self, session: ReadSession, title: str, text: str) -> KnowledgeCandidate | None:
        """Also among those that were decided: what a person rejected is not put before them again. Another answer to
        the same problem is something else."""
        described, solved = _comparable_texts(text)
        best, likest = None, _ALIKE
        for row in await self.list(session, None, limit=2000):
            kept, kept_solved = _comparable_texts(row.text)
            similarity = likeness(f"{row.title}\n{kept}", f"{title}\n{described}")
            if similarity >= likest and likeness(kept_solved, solved) >= _ALIKE_SOLVED:
                best, likest = row, similarity
        return best

    def _decide(self, row: KnowledgeCandidate, actor: Actor, state: str, reason: str | None) -> None:
        row.state, row.reason = state, reason
        row.decided_at, row.decided_by = self._clock.now(), f"{actor.kind} {actor.id}"[:200]

    @staticmethod
    def _tell(session: WriteSession, actor: Actor, name: str, row: KnowledgeCandidate) -> None:
        payload = {"candidate": str(row.id), "origin": row.origin, "state": row.state, "reason": row.reason}
        session.emit(Event(name, session.workspace_id, actor, payload))


def _undecided(row: KnowledgeCandidate) -> None:
    if row.state not in {"staged", "archived"}:
        raise AlreadyDecided


def _markdown(resolution: Resolution) -> str:
    steps = "".join(f"- {line}\n" for line in resolution.trace)
    looked = f"{_LOOKED_AT}\n{steps}" if steps else ""
    return f"## Problem\n\n{resolution.problem.strip()}\n{_RESOLUTION}\n{resolution.resolution.strip()}\n{looked}"


def _comparable_texts(text: str) -> tuple[str, str]:
    """Without what was looked at, which is another thing every time; and of that what solved it, if it still says."""
    described = text.partition(_LOOKED_AT)[0]
    return described, described.partition(_RESOLUTION)[2] or described
