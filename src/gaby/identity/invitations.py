"""Ways in by link: the one-time link for the first admin, and invitations to a workspace."""

import hmac
from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select

from gaby.identity.authority import inviter_authority
from gaby.identity.errors import AccountExists, AlreadySetUp, LinkNotAccepted
from gaby.identity.models import Bootstrap, Invitation, Person, Workspace
from gaby.identity.people import People, normal_email
from gaby.identity.roles import Role
from gaby.identity.secrets import hash_token, new_token
from gaby.identity.workspaces import Workspaces
from gaby.kernel.actors import Actor, system_actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.events import Event, PersonalValue
from gaby.kernel.ids import SYSTEM, IdFactory, Random, WorkspaceId

BOOTSTRAP_LIFE = timedelta(minutes=15)
INVITATION_LIFE = timedelta(days=3)
_INVITATION = system_actor("invitation")


class FirstAdmin:
    """The link that a fresh installation prints. Using it creates the first admin and closes this door for good."""

    def __init__(self, clock: Clock, random: Random, people: People, workspaces: Workspaces) -> None:
        self._clock = clock
        self._random = random
        self._people = people
        self._workspaces = workspaces

    async def issue(self, session: WriteSession) -> str | None:
        """A new token, or None once the installation has people. An unused link is replaced, so only one is valid."""
        known = await session.get(Bootstrap, 1, with_for_update=True)
        anybody = await session.scalar(select(func.count()).select_from(Person))
        if anybody or (known is not None and known.used_at is not None):
            return None
        token, now = new_token(self._random), self._clock.now()
        fresh = Bootstrap(id=1, token_hash=hash_token(token), issued_at=now, expires_at=now + BOOTSTRAP_LIFE)
        await session.merge(fresh)
        session.emit(
            Event("bootstrap.issued", SYSTEM, system_actor("first boot"), {"expires_at": fresh.expires_at.isoformat()})
        )
        return token

    async def check(self, session: ReadSession, token: str, *, lock: bool = False) -> Bootstrap:
        link = await session.get(Bootstrap, 1, with_for_update=lock)
        # Compare in every case, so that the time taken does not tell whether a link is waiting.
        same = hmac.compare_digest(hash_token(token), link.token_hash if link is not None else bytes(32))
        if link is None or not same or link.used_at is not None or self._clock.now() >= link.expires_at:
            raise LinkNotAccepted
        return link

    async def use(self, session: WriteSession, token: str, *, email: str, name: str, password: str) -> Person:
        """Needs a session across workspaces: it makes the first one."""
        link = await self.check(session, token, lock=True)
        if await session.scalar(select(func.count()).select_from(Person)):
            raise AlreadySetUp
        actor = system_actor("first boot")
        person = await self._people.create(
            session, actor, email=email, name=name, password=password, manages_installation=True
        )
        workspace = await self._workspaces.main(session, actor)
        await self._people.join(session, actor, WorkspaceId(workspace.id), person, Role.OWNER)
        link.used_at = self._clock.now()
        session.emit(Event("bootstrap.used", SYSTEM, actor, {"person_id": str(person.id)}))
        return person


class Invitations:
    def __init__(self, clock: Clock, ids: IdFactory, random: Random, people: People) -> None:
        self._clock = clock
        self._ids = ids
        self._random = random
        self._people = people

    async def invite(self, session: WriteSession, actor: Actor, *, email: str, role: Role) -> tuple[Invitation, str]:
        """Answers alike whether or not the person is known elsewhere, so that nothing is learned about others."""
        await self._people.check_may_grant(session, actor, role)
        now, token = self._clock.now(), new_token(self._random)
        invitation = Invitation(
            workspace_id=session.workspace_id,
            id=self._ids.new(),
            email=normal_email(email),
            role=role,
            token_hash=hash_token(token),
            created_at=now,
            expires_at=now + INVITATION_LIFE,
            invited_by=actor.person_id,
            invited_by_key=UUID(actor.id) if actor.kind == "key" else None,
        )
        session.add(invitation)
        await session.flush()
        payload = {
            "invitation_id": str(invitation.id),
            "role": role,
            "email": PersonalValue(f"invitation:{invitation.id}", invitation.email),
        }
        session.emit(Event("person.invited", session.workspace_id, actor, payload))
        return invitation, token

    async def find(self, session: ReadSession, token: str, *, lock: bool = False) -> Invitation:
        """Needs a session across workspaces: the link is what tells the workspace."""
        query = select(Invitation).where(Invitation.token_hash == hash_token(token))
        invitation = (await session.scalars(query.with_for_update() if lock else query)).one_or_none()
        now = self._clock.now()
        if invitation is None or invitation.used_at is not None or now >= invitation.expires_at:
            raise LinkNotAccepted
        # A removed admin must not come back by a link of their own, nor a revoked key by one it made.
        inviter = await inviter_authority(session, invitation, now=now)
        if not inviter.may_grant(Role(invitation.role)):
            raise LinkNotAccepted
        return invitation

    async def accept_new(self, session: WriteSession, token: str, *, name: str, password_hash: str) -> Person:
        """A new account, which counts in the inviting workspace alone: the link proves the link, not the address.

        Nothing outside that workspace is looked at, so that neither the answer nor the time tells whether the address
        is known elsewhere, and whoever made the link gains nothing by using it themselves.
        """
        invitation = await self._claim(session, token)
        workspace_id = WorkspaceId(invitation.workspace_id)
        has_member = await self._people.has_member_at(session, workspace_id, invitation.email)
        if has_member or await self._people.find(session, invitation.email, home=workspace_id) is not None:
            raise AccountExists
        person = await self._people.add(
            session, _INVITATION, email=invitation.email, name=name, password_hash=password_hash, home=workspace_id
        )
        await self._join(session, invitation, person)
        return person

    async def accept_as(self, session: WriteSession, token: str, person: Person) -> None:
        """Somebody who has proven to have an account at this address joins with it."""
        invitation = await self._claim(session, token)
        if person.email != invitation.email:
            raise LinkNotAccepted
        await self._join(session, invitation, person)

    async def _claim(self, session: WriteSession, token: str) -> Invitation:
        invitation = await self.find(session, token, lock=True)
        # Of two links for one address, used at the same moment, the second must see what the first did.
        await session.get(Workspace, invitation.workspace_id, with_for_update=True)
        return invitation

    async def _join(self, session: WriteSession, invitation: Invitation, person: Person) -> None:
        workspace_id = WorkspaceId(invitation.workspace_id)
        await self._people.join(session, _INVITATION, workspace_id, person, Role(invitation.role))
        invitation.used_at = self._clock.now()
