"""A Gaby that runs inside the test, and people who use it over HTTP."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx2
from pwdlib import PasswordHash

from gaby.api import create_app
from gaby.app import Gaby
from gaby.identity import Role
from gaby.identity.models import Person
from gaby.identity.secrets import csrf_token
from gaby.kernel.actors import Permission, system_actor
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.http.access import SESSION_COOKIE
from gaby.kernel.ids import PersonId, WorkspaceId

PASSWORD = "correct horse battery"


@cache
def _hash_of_password() -> str:
    """Once for all people, since it is slow on purpose."""
    return PasswordHash.recommended().hash(PASSWORD)


@dataclass
class Browser:
    """Somebody who signed in: sends the cookie, and the CSRF token with every change."""

    client: httpx2.AsyncClient
    csrf: str
    person_id: PersonId

    async def get(self, path: str, **options: Any) -> httpx2.Response:
        return await self.client.get(path, **options)

    async def send(self, method: str, path: str, json: Any = None, **options: Any) -> httpx2.Response:
        headers = {"X-CSRF-Token": self.csrf, **options.pop("headers", {})}
        return await self.client.request(method, path, json=json, headers=headers, **options)


class World:
    """Makes workspaces and people as the command line would, and opens browsers for them."""

    def __init__(self, gaby: Gaby) -> None:
        self.gaby = gaby
        self.app = create_app(gaby.api_dependencies())

    def client(self, *, address: str = "127.0.0.1", **options: Any) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=self.app, raise_app_exceptions=False, client=(address, 50_000))
        return httpx2.AsyncClient(transport=transport, base_url="http://gaby.example", **options)

    def program(self, key: str, **options: Any) -> httpx2.AsyncClient:
        """A program that uses an API key."""
        headers = {"Authorization": f"Bearer {key}", **options.pop("headers", {})}
        return self.client(headers=headers, **options)

    async def workspace(self, slug: str) -> WorkspaceId:
        async with self.gaby.database.write(AllWorkspaces("a test sets the scene")) as session:
            made = await self.gaby.identity.workspaces.create(session, system_actor("test"), slug=slug, name=slug)
            return WorkspaceId(made.id)

    async def person(
        self, email: str, *places: tuple[WorkspaceId, Role], manages_installation: bool = False
    ) -> PersonId:
        actor = system_actor("test")
        async with self.gaby.database.write(AllWorkspaces("a test sets the scene")) as session:
            person = Person(
                id=self.gaby.ids.new(),
                email=email,
                name=email.partition("@")[0],
                created_at=self.gaby.clock.now(),
                password_hash=_hash_of_password(),
                manages_installation=manages_installation,
            )
            session.add(person)
            await session.flush()
            for workspace_id, role in places:
                await self.gaby.identity.people.join(session, actor, workspace_id, person, role)
            return PersonId(person.id)

    async def sign_in(self, email: str, password: str = PASSWORD) -> Browser:
        client = self.client()
        answer = await client.post("/api/session", json={"email": email, "password": password})
        assert answer.status_code == 201, answer.text
        body = answer.json()
        return Browser(client, body["csrf_token"], PersonId(body["person"]["id"]))

    async def browser(self, email: str, workspace_id: WorkspaceId, role: Role) -> Browser:
        await self.person(email, (workspace_id, role))
        return await self.sign_in(email)

    async def enter(self, person_id: PersonId, *, address: str = "127.0.0.1", user_agent: str = "") -> Browser:
        """A browser that is signed in already, without the time that checking a password takes."""
        async with self.gaby.database.write(AllWorkspaces("a test sets the scene")) as session:
            person = await session.get_one(Person, person_id)
            start = self.gaby.identity.sign_ins.start
            _, token = await start(session, person, user_agent=user_agent, address=address)
        client = self.client(address=address, cookies={SESSION_COOKIE: token})
        return Browser(client, csrf_token(token), person_id)

    async def member(self, email: str, workspace_id: WorkspaceId, role: Role) -> Browser:
        return await self.enter(await self.person(email, (workspace_id, role)))

    async def key(self, workspace_id: WorkspaceId, *scopes: Permission) -> str:
        actor = system_actor("test", workspace_id)
        async with self.gaby.database.write(workspace_id) as session:
            _, text = await self.gaby.identity.keys.create(session, actor, name="test", scopes=scopes)
            return str(text)
