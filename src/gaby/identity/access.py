"""Finding out who is asking: an API key in the Authorization header, or the cookie of a signed-in browser."""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request

from gaby.identity.errors import KeyNotAccepted, TokenMissing
from gaby.identity.keys import ApiKeys, actor_of
from gaby.identity.models import Membership, Person, SignIn
from gaby.identity.roles import Role
from gaby.identity.secrets import csrf_token
from gaby.identity.sign_ins import SignIns
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.database import AllWorkspaces, Database, ReadSession, Scope, WriteSession
from gaby.kernel.errors import Unauthenticated, Unavailable
from gaby.kernel.http.access import SESSION_COOKIE
from gaby.kernel.ids import SYSTEM, ApiKeyId, PersonId, SessionId, WorkspaceId
from gaby.kernel.log import get_log

log = get_log(__name__)

Write = Callable[[WriteSession], Awaitable[None]]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class CurrentSignIn:
    """The cookie's sign-in, kept on the request for the routes that are about it."""

    sign_in_id: SessionId
    token: str


def entered(request: Request) -> CurrentSignIn:
    current = getattr(request.state, "entered", None)
    if current is None:
        raise Unauthenticated("This is about your own sign-in, which an API key does not have. Sign in with a browser.")
    return current


class Authenticator:
    def __init__(self, database: Database, keys: ApiKeys, sign_ins: SignIns) -> None:
        self._database = database
        self._keys = keys
        self._sign_ins = sign_ins

    async def __call__(self, request: Request) -> Actor:
        authorization = request.headers.get("authorization")
        if authorization is not None:
            return await self._by_key(authorization)
        token = request.cookies.get(SESSION_COOKIE)
        if token is None:
            raise Unauthenticated
        return await self._by_cookie(request, token)

    async def _by_key(self, authorization: str) -> Actor:
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise KeyNotAccepted
        async with self._database.read(AllWorkspaces("an API key tells its workspace")) as session:
            key, authority = await self._keys.authenticate(session, text.strip())
        actor = actor_of(key, authority)
        if self._keys.was_used_long_ago(key):
            await self._note(actor.workspace_id, lambda session: self._keys.used(session, ApiKeyId(key.id)))
        return actor

    async def _by_cookie(self, request: Request, token: str) -> Actor:
        if request.method not in _SAFE and not _same(request.headers.get("x-csrf-token"), csrf_token(token)):
            raise TokenMissing
        async with self._database.read(AllWorkspaces("a cookie tells the person and their workspace")) as session:
            sign_in, person = await self._sign_ins.find(session, token)
            actor = await _actor_of(session, sign_in, person)
        request.state.entered = CurrentSignIn(SessionId(sign_in.id), token)
        if self._sign_ins.was_seen_long_ago(sign_in):
            await self._note(SYSTEM, lambda session: self._sign_ins.seen(session, SessionId(sign_in.id)))
        return actor

    async def _note(self, scope: Scope, write: Write) -> None:
        try:
            async with self._database.write(scope) as session:
                await write(session)
        except Unavailable as error:
            # Reading must go on while the disk is full.
            log.warning("identity.last_seen_not_noted", reason=error.code)


async def _actor_of(session: ReadSession, sign_in: SignIn, person: Person) -> Actor:
    workspace_id = sign_in.current_workspace_id
    membership = await session.get(Membership, (workspace_id, person.id)) if workspace_id is not None else None
    permissions = Role(membership.role).permissions if membership is not None else frozenset[Permission]()
    if person.manages_installation:
        permissions |= {Permission.INSTALLATION_MANAGE}
    return Actor(
        kind="user",
        id=str(person.id),
        workspace_id=WorkspaceId(membership.workspace_id) if membership is not None else SYSTEM,
        permissions=permissions,
        person_id=PersonId(person.id),
    )


def _same(given: str | None, expected: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), expected.encode())
