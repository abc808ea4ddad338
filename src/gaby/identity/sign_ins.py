"""Sign-ins: a browser proves who it is with a cookie until it goes idle, grows old, or somebody ends it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import select, update

from gaby.identity.errors import SignInEnded, WrongCredentials
from gaby.identity.models import Membership, Person, SignIn
from gaby.identity.networks import network_of
from gaby.identity.passwords import Passwords
from gaby.identity.secrets import hash_token, new_token
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import NotFound
from gaby.kernel.events import Event
from gaby.kernel.ids import SYSTEM, IdFactory, PersonId, Random, SessionId, WorkspaceId

SEEN_EVERY = timedelta(minutes=1)
"""How stale `last_seen_at` may be: noting every request would make each read a write."""
_NETWORKS_FROM = 100


class SignIns:
    def __init__(
        self,
        clock: Clock,
        ids: IdFactory,
        random: Random,
        passwords: Passwords,
        *,
        idle: timedelta,
        absolute: timedelta,
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._random = random
        self._passwords = passwords
        self._idle = idle
        self._absolute = absolute

    async def check_password(self, person: Person | None, password: str) -> Person:
        stored = person.password_hash if person is not None and person.disabled_at is None else None
        if not await self._passwords.check(password, stored) or person is None:
            raise WrongCredentials
        return person

    async def start(
        self, session: WriteSession, person: Person, *, user_agent: str = "", address: str = ""
    ) -> tuple[SignIn, str]:
        """The new sign-in and the token for its cookie. The session must be across workspaces."""
        now = self._clock.now()
        token = new_token(self._random)
        mine = select(Membership.workspace_id).where(Membership.person_id == person.id)
        sign_in = SignIn(
            id=self._ids.new(),
            person_id=person.id,
            token_hash=hash_token(token),
            created_at=now,
            last_seen_at=now,
            expires_at=now + self._absolute,
            current_workspace_id=(await session.scalars(mine.order_by(Membership.created_at).limit(1))).first(),
            user_agent=_printable(user_agent, 300),
            address=_printable(address, 64),
        )
        session.add(sign_in)
        await session.flush()
        actor = Actor("user", str(person.id), SYSTEM)
        session.emit(Event("sign_in.started", SYSTEM, actor, {"sign_in_id": str(sign_in.id)}))
        return sign_in, token

    async def find(self, session: ReadSession, token: str) -> tuple[SignIn, Person]:
        query = (
            select(SignIn, Person)
            .join(Person, Person.id == SignIn.person_id)
            .where(SignIn.token_hash == hash_token(token))
        )
        row = (await session.execute(query)).one_or_none()
        if row is None or not self._is_live(*row):
            raise SignInEnded
        return row

    async def networks(self, session: ReadSession, person_id: PersonId) -> set[str]:
        """Where the person signed in from lately."""
        recent = select(SignIn.address).where(SignIn.person_id == person_id).order_by(SignIn.created_at.desc())
        return {network_of(address) for address in await session.scalars(recent.limit(_NETWORKS_FROM))}

    def was_seen_long_ago(self, sign_in: SignIn) -> bool:
        return self._clock.now() - sign_in.last_seen_at >= SEEN_EVERY

    async def seen(self, session: WriteSession, sign_in_id: SessionId) -> None:
        await session.execute(update(SignIn).where(SignIn.id == sign_in_id).values(last_seen_at=self._clock.now()))

    async def choose_workspace(self, session: WriteSession, sign_in_id: SessionId, workspace_id: WorkspaceId) -> None:
        """The session is the chosen workspace's own, so somebody who is no member of it finds nothing there."""
        sign_in = await session.get(SignIn, sign_in_id)
        if sign_in is None or await session.get(Membership, (workspace_id, sign_in.person_id)) is None:
            raise NotFound
        sign_in.current_workspace_id = workspace_id

    async def list(self, session: ReadSession, person_id: PersonId) -> Sequence[SignIn]:
        mine = select(SignIn).where(SignIn.person_id == person_id, SignIn.revoked_at.is_(None))
        rows = (await session.scalars(mine.order_by(SignIn.last_seen_at.desc()).limit(200))).all()
        return [sign_in for sign_in in rows if not self._is_over(sign_in)]

    async def end(self, session: WriteSession, actor: Actor, person_id: PersonId, sign_in_id: SessionId) -> None:
        sign_in = await session.get(SignIn, sign_in_id, with_for_update=True)
        if sign_in is None or sign_in.person_id != person_id or sign_in.revoked_at is not None:
            raise NotFound
        sign_in.revoked_at = self._clock.now()
        session.emit(Event("sign_in.ended", SYSTEM, actor, {"sign_in_id": str(sign_in_id)}))

    async def end_all(
        self, session: WriteSession, actor: Actor, person_id: PersonId, *, but: SessionId | None = None
    ) -> int:
        others = (
            update(SignIn)
            .where(SignIn.person_id == person_id, SignIn.revoked_at.is_(None))
            .values(revoked_at=self._clock.now())
            .returning(SignIn.id)
        )
        if but is not None:
            others = others.where(SignIn.id != but)
        ended = len((await session.scalars(others)).all())
        session.emit(Event("sign_in.ended_others", SYSTEM, actor, {"person_id": str(person_id), "ended": ended}))
        return ended

    def _is_live(self, sign_in: SignIn, person: Person) -> bool:
        return sign_in.revoked_at is None and person.disabled_at is None and not self._is_over(sign_in)

    def _is_over(self, sign_in: SignIn) -> bool:
        now: datetime = self._clock.now()
        return now >= sign_in.expires_at or now - sign_in.last_seen_at >= self._idle


def _printable(text: str, longest: int) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:longest]
