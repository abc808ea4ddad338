"""Who is asking and what they may touch, readable in a route's signature."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from gaby.kernel import database
from gaby.kernel.actors import Actor, Permission
from gaby.kernel.database import AllWorkspaces, Database
from gaby.kernel.errors import Forbidden
from gaby.kernel.ids import SYSTEM
from gaby.kernel.log import note_workspace

SESSION_COOKIE = "gaby_session"


class Authenticate(Protocol):
    async def __call__(self, request: Request) -> Actor: ...


@dataclass(frozen=True)
class RequestDependencies:
    """What every route may need, put on the app once by its factory."""

    database: Database
    authenticate: Authenticate


def request_dependencies(request: Request) -> RequestDependencies:
    return request.app.state.request_dependencies


# Declared so that the API description names both ways in; the checking is done by `authenticate`.
_cookie = APIKeyCookie(name=SESSION_COOKIE, auto_error=False, description="Set by signing in.")
_bearer = HTTPBearer(auto_error=False, description="An API key: `gaby-PREFIX.SECRET`.")


async def _actor(
    request: Request,
    _by_cookie: Annotated[Any, Security(_cookie)],
    _by_key: Annotated[Any, Security(_bearer)],
) -> Actor:
    actor = await request_dependencies(request).authenticate(request)
    note_workspace(actor.workspace_id)
    return actor


SignedIn = Annotated[Actor, Depends(_actor)]
"""Anybody with a valid cookie or key."""


def _requires(permission: Permission) -> Any:
    async def check(actor: SignedIn) -> Actor:
        if not actor.may(permission):
            raise Forbidden(f"{Forbidden().message} (It is called {permission.value}.)")
        return actor

    return Depends(check)


CanReadWorkspace = Annotated[Actor, _requires(Permission.WORKSPACE_READ)]
CanManageWorkspace = Annotated[Actor, _requires(Permission.WORKSPACE_MANAGE)]
CanReadPeople = Annotated[Actor, _requires(Permission.PEOPLE_READ)]
CanManagePeople = Annotated[Actor, _requires(Permission.PEOPLE_MANAGE)]
CanManageKeys = Annotated[Actor, _requires(Permission.KEYS_MANAGE)]
CanReadAudit = Annotated[Actor, _requires(Permission.AUDIT_READ)]
CanReadConnectors = Annotated[Actor, _requires(Permission.CONNECTORS_READ)]
CanManageConnectors = Annotated[Actor, _requires(Permission.CONNECTORS_MANAGE)]
CanReadModels = Annotated[Actor, _requires(Permission.MODELS_READ)]
CanManageModels = Annotated[Actor, _requires(Permission.MODELS_MANAGE)]
CanReadUsage = Annotated[Actor, _requires(Permission.USAGE_READ)]
CanReadKnowledge = Annotated[Actor, _requires(Permission.KNOWLEDGE_READ)]
CanCurateKnowledge = Annotated[Actor, _requires(Permission.KNOWLEDGE_CURATE)]
CanManageKnowledge = Annotated[Actor, _requires(Permission.KNOWLEDGE_MANAGE)]
CanReadTickets = Annotated[Actor, _requires(Permission.TICKETS_READ)]
CanWorkOnTickets = Annotated[Actor, _requires(Permission.TICKETS_WORK)]
CanManageDesks = Annotated[Actor, _requires(Permission.DESKS_MANAGE)]
CanDecideApprovals = Annotated[Actor, _requires(Permission.APPROVALS_DECIDE)]
CanStopTools = Annotated[Actor, _requires(Permission.TOOLS_STOP)]
CanManageInstallation = Annotated[Actor, _requires(Permission.INSTALLATION_MANAGE)]


async def _reading(request: Request, actor: SignedIn) -> AsyncGenerator[database.ReadSession]:
    async with request_dependencies(request).database.read(actor.workspace_id) as session:
        yield session


async def _writing(request: Request, actor: SignedIn) -> AsyncGenerator[database.WriteSession]:
    async with request_dependencies(request).database.write(actor.workspace_id) as session:
        yield session


async def _reading_system(request: Request) -> AsyncGenerator[database.ReadSession]:
    async with request_dependencies(request).database.read(SYSTEM) as session:
        yield session


async def _writing_system(request: Request) -> AsyncGenerator[database.WriteSession]:
    async with request_dependencies(request).database.write(SYSTEM) as session:
        yield session


async def _reading_across(request: Request) -> AsyncGenerator[database.ReadSession]:
    async with request_dependencies(request).database.read(
        AllWorkspaces("a person enters, and may belong to any workspace")
    ) as session:
        yield session


async def _writing_across(request: Request) -> AsyncGenerator[database.WriteSession]:
    async with request_dependencies(request).database.write(
        AllWorkspaces("a person enters, and may belong to any workspace")
    ) as session:
        yield session


# Scope "function": the transaction is committed before the answer is sent, so that a 2xx means it is stored.
ReadSession = Annotated[database.ReadSession, Depends(_reading, scope="function")]
WriteSession = Annotated[database.WriteSession, Depends(_writing, scope="function")]
SystemReadSession = Annotated[database.ReadSession, Depends(_reading_system, scope="function")]
SystemWriteSession = Annotated[database.WriteSession, Depends(_writing_system, scope="function")]
EntryReadSession = Annotated[database.ReadSession, Depends(_reading_across, scope="function")]
EntryWriteSession = Annotated[database.WriteSession, Depends(_writing_across, scope="function")]
