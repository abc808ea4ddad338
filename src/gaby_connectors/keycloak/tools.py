"""The tools of the Keycloak connector."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from gaby_connectors.keycloak.config import KeycloakConfig
from gaby_connectors.keycloak.realm import Realm
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.sdk.tool import WriteCall

_SYSTEM, _EXTERNAL = ResultLabel.SYSTEM, ResultLabel.EXTERNAL
_USER = {"id": _SYSTEM, "enabled": _SYSTEM, "email_verified": _SYSTEM, "created_at": _SYSTEM, "email": _EXTERNAL}
UserId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$", description="A user's id (not the name), from find_users.")
]
Action = Literal["UPDATE_PASSWORD", "VERIFY_EMAIL", "CONFIGURE_TOTP", "UPDATE_PROFILE"]


class User(BaseModel):
    id: str
    username: str
    email: str | None
    first_name: str | None
    last_name: str | None
    enabled: bool
    email_verified: bool
    locked_by_wrong_passwords: bool | None = None
    required_actions: list[str]
    created_at: str | None


class KeycloakUserList(BaseModel):
    users: list[User]


class KeycloakUserLookup(BaseModel):
    user: User


class Session(BaseModel):
    id: str
    address: str
    started_at: str | None
    last_seen_at: str | None
    clients: list[str]


class KeycloakSessionList(BaseModel):
    user_id: str
    sessions: list[Session]


class LogoutResult(BaseModel):
    user_id: str
    sessions: int


class ActionMailResult(BaseModel):
    user_id: str
    actions: list[str]


class EnabledResult(BaseModel):
    user_id: str
    enabled: bool
    before: bool


class LockClearResult(BaseModel):
    user_id: str
    was_locked: bool


connector = Connector(
    "keycloak",
    version="1.0.0",
    instructions="People of a Keycloak realm. Find a person with find_users; the other tools take the id it gives.",
    config=KeycloakConfig,
    backend=Realm,
)


@connector.tool(
    ToolManifest(
        scope="read",
        path="users/find",
        lookups=("query",),
        results={f"users[].{name}": label for name, label in _USER.items()},
        owner={"users[]": "email"},
    ),
    more="Search for more of the name.",
)
async def find_users(
    realm: Realm,
    query: Annotated[
        str, Field(min_length=2, max_length=200, description="An e-mail address, user name or part of a name.")
    ],
    limit: Annotated[int, Field(ge=1, le=100, description="How many to give at most.")] = 20,
) -> KeycloakUserList:
    """Find people of the realm by e-mail address, user name or name."""
    users = await realm.get("users", search=query.strip(), max=limit, briefRepresentation="false")
    return KeycloakUserList(users=[_user(row) for row in users])


@connector.tool(
    ToolManifest(
        scope="read",
        path="users/{user_id}",
        results={f"user.{name}": label for name, label in _USER.items()},
        owner={"user": "email"},
        cache=False,
    )
)
async def get_user(realm: Realm, user_id: UserId) -> KeycloakUserLookup:
    """Show one person: enabled, e-mail verified, what they must do at next login, locked by wrong passwords."""
    user = _user(await realm.get(f"users/{user_id}"))
    tries = await realm.get(f"attack-detection/brute-force/users/{user_id}")
    return KeycloakUserLookup(user=user.model_copy(update={"locked_by_wrong_passwords": bool(tries.get("disabled"))}))


@connector.tool(
    ToolManifest(
        scope="read",
        path="users/{user_id}/sessions",
        cache=False,
        results={"sessions[].id": _SYSTEM, "sessions[].started_at": _SYSTEM, "sessions[].last_seen_at": _SYSTEM},
    )
)
async def list_sessions(realm: Realm, user_id: UserId) -> KeycloakSessionList:
    """Show where a person is signed in: address, since when, last seen, and in which applications."""
    sessions = await realm.get(f"users/{user_id}/sessions")
    return KeycloakSessionList(user_id=user_id, sessions=[_session(row) for row in sessions])


@connector.tool(
    ToolManifest(
        scope="write", path="users/{user_id}/logout", steering=("user_id",), supports_dry_run=True, idempotent=True
    ),
    repeatable=True,
)
async def logout_sessions(realm: Realm, user_id: UserId, call: WriteCall) -> LogoutResult:
    """Sign a person out everywhere. They can sign in again at once."""
    sessions = await realm.get(f"users/{user_id}/sessions")
    if not call.dry_run:
        await realm.send("POST", f"users/{user_id}/logout")
    return LogoutResult(user_id=user_id, sessions=len(sessions))


@connector.tool(
    ToolManifest(
        scope="write",
        path="users/{user_id}/send_actions_email",
        steering=("user_id", "actions"),
        supports_dry_run=True,
        idempotent=True,
    )
)
async def send_actions_email(
    realm: Realm,
    user_id: UserId,
    call: WriteCall,
    actions: Annotated[
        tuple[Action, ...], Field(min_length=1, max_length=4, description="What the person is asked to do.")
    ] = ("UPDATE_PASSWORD",),
) -> ActionMailResult:
    """Send a person an e-mail with a link to set a new password, verify the address or set up a second factor."""
    # Asked first, so that a dry run finds out too whether there is such a person.
    await realm.get(f"users/{user_id}")
    if not call.dry_run:
        await realm.send("PUT", f"users/{user_id}/execute-actions-email", list(actions))
    return ActionMailResult(user_id=user_id, actions=list(actions))


@connector.tool(
    ToolManifest(
        scope="write", path="users/{user_id}/clear_lock", steering=("user_id",), supports_dry_run=True, idempotent=True
    ),
    repeatable=True,
)
async def clear_login_failures(realm: Realm, user_id: UserId, call: WriteCall) -> LockClearResult:
    """Unlock a person who was locked out after wrong passwords."""
    tries = await realm.get(f"attack-detection/brute-force/users/{user_id}")
    if not call.dry_run:
        await realm.send("DELETE", f"attack-detection/brute-force/users/{user_id}")
    return LockClearResult(user_id=user_id, was_locked=bool(tries.get("disabled")))


@connector.tool(
    ToolManifest(
        scope="write",
        path="users/{user_id}/disable",
        dangerous=True,
        steering=("user_id",),
        supports_dry_run=True,
        idempotent=True,
    ),
    repeatable=True,
)
async def disable_user(realm: Realm, user_id: UserId, call: WriteCall) -> EnabledResult:
    """Keep a person from signing in, until enabled again."""
    return await _switch(realm, user_id, call, enabled=False)


@connector.tool(
    ToolManifest(
        scope="write",
        path="users/{user_id}/enable",
        dangerous=True,
        steering=("user_id",),
        supports_dry_run=True,
        idempotent=True,
    ),
    repeatable=True,
)
async def enable_user(realm: Realm, user_id: UserId, call: WriteCall) -> EnabledResult:
    """Let a person who was disabled sign in again, which gives back all access they had."""
    return await _switch(realm, user_id, call, enabled=True)


async def _switch(realm: Realm, user_id: str, call: WriteCall, *, enabled: bool) -> EnabledResult:
    before = bool((await realm.get(f"users/{user_id}")).get("enabled"))
    if not call.dry_run:
        await realm.send("PUT", f"users/{user_id}", {"enabled": enabled})
    return EnabledResult(user_id=user_id, enabled=enabled, before=before)


def _user(row: dict[str, Any]) -> User:
    return User(
        id=row["id"],
        username=row.get("username", ""),
        email=row.get("email"),
        first_name=row.get("firstName"),
        last_name=row.get("lastName"),
        enabled=bool(row.get("enabled")),
        email_verified=bool(row.get("emailVerified")),
        required_actions=row.get("requiredActions", []),
        created_at=_when(row.get("createdTimestamp")),
    )


def _session(row: dict[str, Any]) -> Session:
    return Session(
        id=row["id"],
        address=row.get("ipAddress", ""),
        started_at=_when(row.get("start")),
        last_seen_at=_when(row.get("lastAccess")),
        clients=sorted(str(client) for client in row.get("clients", {}).values()),
    )


def _when(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
