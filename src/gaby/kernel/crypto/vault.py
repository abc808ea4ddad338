"""The vault: seals texts under the key of the person they are about, and can shred that key."""

import re
import secrets
from typing import Any, NamedTuple, cast
from uuid import UUID

from sqlalchemy import CursorResult, select, update
from sqlalchemy.dialects import postgresql, sqlite

from gaby.kernel.clock import Clock
from gaby.kernel.crypto.envelope import KEY_BYTES, SealedEnvelope, binding, key_id, open_sealed, seal
from gaby.kernel.crypto.errors import CannotOpen, SubjectShredded
from gaby.kernel.crypto.master import MasterKeys, WrappedKey
from gaby.kernel.crypto.models import DataKey
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Invalid
from gaby.kernel.ids import IdFactory, Random, WorkspaceId

_SUBJECT = re.compile(r"[\x21-\x7e]{1,200}")
_TEXT = "utf-8"
_BATCH = 500


class _Row(NamedTuple):
    id: UUID
    wrapped: WrappedKey | None
    ever_shredded: bool


class SubjectSealer:
    """Seals and opens for one subject and purpose without asking the database again, for what writes often."""

    def __init__(self, key: bytes, bound_to: bytes, random: Random) -> None:
        self._key = key
        self._bound_to = bound_to
        self._random = random

    def seal(self, plain: bytes) -> bytes:
        return seal(self._key, plain, self._bound_to, self._random).to_bytes()

    def open(self, sealed: bytes) -> bytes:
        return open_sealed(self._key, SealedEnvelope.from_bytes(sealed), self._bound_to)

    def open_text(self, sealed: str) -> str:
        """What `Vault.seal` gave for the same subject and purpose."""
        return open_sealed(self._key, SealedEnvelope.from_text(sealed), self._bound_to).decode(_TEXT, "surrogatepass")


class Vault:
    """A subject is an id such as `person:0190...`, never a name or an address, since it outlives the shredding."""

    def __init__(self, master: MasterKeys, clock: Clock, ids: IdFactory, random: Random = secrets.token_bytes) -> None:
        self._master = master
        self._clock = clock
        self._ids = ids
        self._random = random

    async def seal(
        self,
        session: WriteSession,
        subject: str,
        text: str,
        purpose: str,
        *,
        renew: bool = False,
        workspace_id: WorkspaceId | None = None,
    ) -> str:
        """The sealed text, to be stored anywhere. A shredded subject gets a new key only when told to `renew`.

        A session across workspaces says for which `workspace_id` it seals.
        """
        workspace_id = workspace_id or session.workspace_id
        key = await self._key_to_seal(session, workspace_id, subject, renew=renew)
        bound_to = binding(workspace_id, subject, purpose)
        # Texts from outside may hold halves of surrogate pairs; what is sealed must come back as it was.
        return seal(key, text.encode(_TEXT, "surrogatepass"), bound_to, self._random).to_text()

    async def opening(self, session: ReadSession, subject: str, purpose: str) -> SubjectSealer:
        """For what seals and opens often. Hold it no longer than the work lasts."""
        row = await self._find(session, session.workspace_id, subject)
        if row is None:
            raise CannotOpen
        if row.wrapped is None:
            raise SubjectShredded
        key = self._master.unwrap(row.wrapped, _key_binding(session.workspace_id, subject))
        return SubjectSealer(key, binding(session.workspace_id, subject, purpose), self._random)

    async def open(self, session: ReadSession, subject: str, sealed: str, purpose: str) -> str:
        envelope = SealedEnvelope.from_text(sealed)
        row = await self._find(session, session.workspace_id, subject)
        if row is None:
            raise CannotOpen
        if row.wrapped is None:
            raise SubjectShredded
        key = self._master.unwrap(row.wrapped, _key_binding(session.workspace_id, subject))
        if envelope.key_id != key_id(key) and row.ever_shredded:
            raise SubjectShredded
        return open_sealed(key, envelope, binding(session.workspace_id, subject, purpose)).decode(
            _TEXT, "surrogatepass"
        )

    async def shred(self, session: WriteSession, subject: str) -> bool:
        """Forgets the subject's key for good. False when there was none."""
        changed = await session.execute(
            update(DataKey)
            .where(DataKey.workspace_id == session.workspace_id, DataKey.subject == subject)
            .where(DataKey.wrapped.is_not(None))
            .values(wrapped=None, master_key_id=None, shredded_at=self._clock.now())
        )
        return _count(changed) > 0

    async def rewrap(self, session: WriteSession, batch: int = _BATCH) -> int:
        """After a rotation: wraps up to a batch of this workspace's keys with the active master key. 0 means done."""
        rows = await session.execute(
            select(DataKey.id, DataKey.subject, DataKey.wrapped, DataKey.master_key_id)
            .where(DataKey.workspace_id == session.workspace_id)
            .where(DataKey.wrapped.is_not(None), DataKey.master_key_id != self._master.active_id)
            .order_by(DataKey.id)
            .limit(batch)
        )
        rewrapped = 0
        for row_id, subject, data, master_key_id in rows.all():
            if data is not None and master_key_id is not None:
                aad = _key_binding(session.workspace_id, subject)
                fresh = self._master.wrap(self._master.unwrap(WrappedKey(master_key_id, data), aad), aad)
                # The old value is asked for, so that a key shredded meanwhile does not come back.
                rewrapped += await self._store(session, session.workspace_id, row_id, fresh, replacing=data)
        return rewrapped

    async def _key_to_seal(
        self, session: WriteSession, workspace_id: WorkspaceId, subject: str, *, renew: bool
    ) -> bytes:
        if not _SUBJECT.fullmatch(subject):
            raise Invalid("A subject must be 1 to 200 plain characters without spaces, such as `person:0190...`.")
        aad = _key_binding(workspace_id, subject)
        row = await self._find(session, workspace_id, subject) or await self._add(session, workspace_id, subject, aad)
        if row.wrapped is None and renew:
            await self._store(
                session, workspace_id, row.id, self._master.wrap(self._random(KEY_BYTES), aad), replacing=None
            )
            row = await self._find(session, workspace_id, subject)
        if row is None or row.wrapped is None:
            raise SubjectShredded
        return self._master.unwrap(row.wrapped, aad)

    async def _find(self, session: ReadSession, workspace_id: WorkspaceId, subject: str) -> _Row | None:
        rows = await session.execute(
            select(DataKey.id, DataKey.wrapped, DataKey.master_key_id, DataKey.shredded_at).where(
                DataKey.workspace_id == workspace_id, DataKey.subject == subject
            )
        )
        row = rows.one_or_none()
        if row is None:
            return None
        row_id, data, master_key_id, shredded_at = row
        wrapped = WrappedKey(master_key_id, data) if data is not None and master_key_id is not None else None
        return _Row(row_id, wrapped, shredded_at is not None)

    async def _add(self, session: WriteSession, workspace_id: WorkspaceId, subject: str, aad: bytes) -> _Row:
        wrapped = self._master.wrap(self._random(KEY_BYTES), aad)
        row = _Row(self._ids.new(), wrapped, ever_shredded=False)
        insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
        # Two may seal for a new subject at the same moment; the second one takes the key of the first.
        inserted = await session.execute(
            insert(DataKey)
            .values(
                workspace_id=workspace_id,
                id=row.id,
                subject=subject,
                created_at=self._clock.now(),
                wrapped=wrapped.data,
                master_key_id=wrapped.master_key_id,
            )
            .on_conflict_do_nothing()
            .returning(DataKey.id)
        )
        if inserted.first() is not None:
            return row
        existing = await self._find(session, workspace_id, subject)
        if existing is None:
            raise Conflict
        return existing

    async def _store(
        self,
        session: WriteSession,
        workspace_id: WorkspaceId,
        row_id: UUID,
        wrapped: WrappedKey,
        *,
        replacing: bytes | None,
    ) -> int:
        unchanged = DataKey.wrapped.is_(None) if replacing is None else DataKey.wrapped == replacing
        changed = await session.execute(
            update(DataKey)
            .where(DataKey.workspace_id == workspace_id, DataKey.id == row_id, unchanged)
            .values(wrapped=wrapped.data, master_key_id=wrapped.master_key_id)
        )
        return _count(changed)


def _key_binding(workspace_id: WorkspaceId, subject: str) -> bytes:
    return binding(workspace_id, "data key", subject)


def _count(result: Any) -> int:
    return cast("CursorResult[Any]", result).rowcount
