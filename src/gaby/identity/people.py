"""People of a workspace: who they are, their role, and how they leave."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

from gaby.identity.authority import actor_authority
from gaby.identity.errors import LastOwner, NotYours
from gaby.identity.models import Invitation, Membership, Person, Workspace
from gaby.identity.passwords import Passwords
from gaby.identity.roles import Role
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Conflict, Invalid, NotFound
from gaby.kernel.events import Event, PersonalValue
from gaby.kernel.ids import SYSTEM, IdFactory, PersonId, WorkspaceId

_EMAIL = re.compile(r"[^\s@\x00-\x1f]{1,64}@[^\s@.\x00-\x1f]+(?:\.[^\s@.\x00-\x1f]+)+")


@dataclass(frozen=True)
class Member:
    id: PersonId
    email: str
    name: str
    role: Role
    since: datetime


def normal_email(text: str) -> str:
    """One spelling for each mailbox, as people are known by it."""
    email = text.strip().lower()
    if len(email) > 320 or not _EMAIL.fullmatch(email):
        raise Invalid("That is not an e-mail address. It should look like name@company.example.")
    return email


class People:
    def __init__(self, clock: Clock, ids: IdFactory, passwords: Passwords) -> None:
        self._clock = clock
        self._ids = ids
        self._passwords = passwords

    async def create(
        self,
        session: WriteSession,
        actor: Actor,
        *,
        email: str,
        name: str,
        password: str,
        manages_installation: bool = False,
    ) -> Person:
        """An account of the installation: somebody at the machine vouches for the address."""
        if await self.find(session, email) is not None:
            raise Conflict("Somebody with this e-mail address is known already.")
        password_hash = await self._passwords.hash(password)
        return await self.add(
            session,
            actor,
            email=email,
            name=name,
            password_hash=password_hash,
            manages_installation=manages_installation,
        )

    async def add(
        self,
        session: WriteSession,
        actor: Actor,
        *,
        email: str,
        name: str,
        password_hash: str,
        home: WorkspaceId | None = None,
        manages_installation: bool = False,
    ) -> Person:
        """With a home, the account is known by its address only there."""
        email = normal_email(email)
        person = Person(
            id=self._ids.new(),
            email=email,
            name=name,
            created_at=self._clock.now(),
            password_hash=password_hash,
            manages_installation=manages_installation,
            home_workspace_id=home,
        )
        session.add(person)
        await session.flush()
        payload = {
            "person_id": str(person.id),
            "email": _personal(person, email),
            "manages_installation": manages_installation,
        }
        session.emit(Event("person.created", SYSTEM, actor, payload))
        return person

    async def join(
        self, session: WriteSession, actor: Actor, workspace_id: WorkspaceId, person: Person, role: Role
    ) -> None:
        """Somebody who is a member already keeps the higher of the two roles."""
        present = await session.get(Membership, (workspace_id, person.id), with_for_update=True)
        if present is not None:
            role = present.role = max(role, Role(present.role), key=lambda each: each.rank)
        else:
            session.add(
                Membership(workspace_id=workspace_id, person_id=person.id, role=role, created_at=self._clock.now())
            )
        await session.flush()
        payload = {"person_id": str(person.id), "role": role, "email": _personal(person, person.email)}
        session.emit(Event("person.joined", workspace_id, actor, payload))

    async def list(self, session: ReadSession, *, after: PersonId | None = None, limit: int = 100) -> Sequence[Member]:
        query = (
            select(Person, Membership)
            .join(Membership, Membership.person_id == Person.id)
            .where(Membership.workspace_id == session.workspace_id)
            .order_by(Person.id)
            .limit(limit)
        )
        if after is not None:
            query = query.where(Person.id > after)
        return [_member(person, membership) for person, membership in (await session.execute(query))]

    async def get(self, session: ReadSession, person_id: PersonId) -> Member:
        person, membership = await self._load(session, person_id)
        return _member(person, membership)

    async def find(self, session: ReadSession, email: str, *, home: WorkspaceId | None = None) -> Person | None:
        """The installation's account at an address, or the one that a workspace vouched for."""
        at_address = select(Person).where(Person.email == normal_email(email))
        here = Person.home_workspace_id.is_(None) if home is None else Person.home_workspace_id == home
        return (await session.scalars(at_address.where(here))).one_or_none()

    async def has_member_at(self, session: ReadSession, workspace_id: WorkspaceId, email: str) -> bool:
        """Whether a workspace has somebody with this address, which is all that it may know about an address."""
        members = (
            select(Person.id)
            .join(Membership, Membership.person_id == Person.id)
            .where(Membership.workspace_id == workspace_id, Person.email == normal_email(email))
        )
        return (await session.scalars(members.limit(1))).first() is not None

    async def change_role(self, session: WriteSession, actor: Actor, person_id: PersonId, role: Role) -> Member:
        await self._one_change_at_a_time(session)
        person, membership = await self._load(session, person_id)
        before = Role(membership.role)
        await self.check_may_grant(session, actor, before, role)
        if before is Role.OWNER and role is not Role.OWNER:
            await self._keep_an_owner(session)
        membership.role = role
        if role.rank < before.rank:
            await self._withdraw_invitations(session, person)
        payload = {"person_id": str(person_id), "from": before, "to": role}
        session.emit(Event("person.role_changed", session.workspace_id, actor, payload))
        return _member(person, membership)

    async def remove(self, session: WriteSession, actor: Actor, person_id: PersonId) -> None:
        await self._one_change_at_a_time(session)
        person, membership = await self._load(session, person_id)
        role = Role(membership.role)
        await self.check_may_grant(session, actor, role)
        if role is Role.OWNER:
            await self._keep_an_owner(session)
        await session.delete(membership)
        await self._withdraw_invitations(session, person)
        session.emit(Event("person.removed", session.workspace_id, actor, {"person_id": str(person_id), "role": role}))

    async def check_may_grant(self, session: ReadSession, actor: Actor, *roles: Role) -> None:
        """Nobody gives or takes more than they hold; who manages the installation holds all."""
        authority = await actor_authority(session, actor, now=self._clock.now())
        if not all(authority.may_grant(role) for role in roles):
            raise NotYours

    async def hash_password(self, password: str) -> str:
        """For those who must not keep a transaction open meanwhile."""
        return await self._passwords.hash(password)

    async def set_password(self, session: WriteSession, actor: Actor, person: Person, password: str) -> None:
        person.password_hash = await self._passwords.hash(password)
        session.emit(Event("person.password_changed", SYSTEM, actor, {"person_id": str(person.id)}))

    async def _load(self, session: ReadSession, person_id: PersonId) -> tuple[Person, Membership]:
        query = (
            select(Person, Membership)
            .join(Membership, Membership.person_id == Person.id)
            .where(Membership.workspace_id == session.workspace_id, Membership.person_id == person_id)
        )
        row = (await session.execute(query)).one_or_none()
        if row is None:
            raise NotFound
        return row

    async def _withdraw_invitations(self, session: WriteSession, person: Person) -> None:
        """A second link in somebody's pocket must not bring back what was taken from them."""
        now = self._clock.now()
        waiting = update(Invitation).where(
            Invitation.workspace_id == session.workspace_id,
            Invitation.email == person.email,
            Invitation.used_at.is_(None),
            Invitation.expires_at > now,
        )
        await session.execute(waiting.values(expires_at=now))

    async def _one_change_at_a_time(self, session: WriteSession) -> None:
        # Two owners who demote each other at the same moment must not both succeed.
        await session.get(Workspace, session.workspace_id, with_for_update=True)

    async def _keep_an_owner(self, session: ReadSession) -> None:
        owners = select(Membership.person_id).where(
            Membership.workspace_id == session.workspace_id, Membership.role == Role.OWNER
        )
        if len((await session.scalars(owners)).all()) <= 1:
            raise LastOwner


def _member(person: Person, membership: Membership) -> Member:
    return Member(PersonId(person.id), person.email, person.name, Role(membership.role), membership.created_at)


def _personal(person: Person, value: str) -> PersonalValue:
    return PersonalValue(subject=f"person:{person.id}", value=value)
