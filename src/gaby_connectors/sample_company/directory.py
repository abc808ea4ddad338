"""Who is who: users, groups and logins."""

from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.sample_company.base import AccountId, Limit, UserId, connector, minted, written
from gaby_connectors.sample_company.company import CompanyBackend, Row
from gaby_connectors.sdk.manifest import ToolManifest

_USER = minted(
    "users[]",
    "id",
    "account_id",
    "role",
    "status",
    "locked",
    "locked_at",
    "lock_reason",
    "failed_logins",
    "mfa",
    "password_changed_at",
    "last_login_at",
) | written("users[]", "name", "email")
_ONE_USER = {path.replace("users[]", "user"): label for path, label in _USER.items()}


class User(BaseModel):
    id: str
    account_id: str
    name: str
    email: str
    role: str
    status: str
    locked: bool
    locked_at: str | None
    lock_reason: str | None
    failed_logins: int
    mfa: str
    password_changed_at: str
    last_login_at: str | None


class SampleUserList(BaseModel):
    users: list[User]


class Group(BaseModel):
    id: str
    name: str
    grants: str
    members: list[str] = []


class UserDetail(BaseModel):
    user: User
    groups: list[Group]


class SampleGroupList(BaseModel):
    groups: list[Group]


class Login(BaseModel):
    at: str
    ok: bool
    reason: str
    client: str
    address: str


class Logins(BaseModel):
    user_id: str
    logins: list[Login]


def _user(row: Row) -> User:
    return User(locked=row["locked_at"] is not None, **row)


@connector.tool(
    ToolManifest(scope="read", path="users/search", lookups=("query",), results=_USER, owner={"users[]": "email"}),
    more="Search for a longer part of the name or e-mail.",
)
async def search_users(
    company: CompanyBackend,
    query: Annotated[str, Field(min_length=2, max_length=200, description="Part of a name or an e-mail address.")],
    limit: Limit = 20,
) -> SampleUserList:
    """Find users of any customer by name or e-mail, with lock state, second factor and last login."""
    rows = company.rows(
        "SELECT * FROM users WHERE instr(lower(email), lower(?1)) OR instr(lower(name), lower(?1)) "
        "ORDER BY id LIMIT ?2",
        query.strip(),
        limit,
    )
    return SampleUserList(users=[_user(row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="read",
        path="users/{user_id}",
        results=_ONE_USER | minted("groups[]", "id", "grants"),
        owner={"user": "email"},
        owner_argument="user_id",
    )
)
async def get_user(company: CompanyBackend, user_id: UserId) -> UserDetail:
    """Show one user with lock state, second factor, password age, and the groups that the user is in."""
    row = company.row("user", "SELECT * FROM users WHERE id = ?", user_id)
    groups = company.rows(
        "SELECT g.id, g.name, g.grants FROM groups g JOIN group_members m ON m.group_id = g.id WHERE m.user_id = ?",
        user_id,
    )
    return UserDetail(user=_user(row), groups=[Group(**group) for group in groups])


@connector.tool(
    ToolManifest(
        scope="read",
        path="users/{user_id}/logins",
        results=minted("logins[]", "at", "ok", "reason"),
        owner_argument="user_id",
    ),
    more="Ask with a smaller limit, or only for failed logins.",
)
async def list_logins(
    company: CompanyBackend,
    user_id: UserId,
    *,
    only_failed: Annotated[bool, Field(description="Leave out the logins that worked.")] = False,
    limit: Limit = 30,
) -> Logins:
    """Show the latest logins of a user: when, from which client and address, whether it worked and why not."""
    _ = company.row("user", "SELECT id FROM users WHERE id = ?", user_id)
    rows = company.rows(
        "SELECT at, ok, reason, client, address FROM logins WHERE user_id = ? AND ok <= ? ORDER BY at DESC LIMIT ?",
        user_id,
        0 if only_failed else 1,
        limit,
    )
    return Logins(user_id=user_id, logins=[Login(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="read",
        path="accounts/{account_id}/groups",
        results=minted("groups[]", "id", "grants"),
        owner_argument="account_id",
    )
)
async def list_groups(company: CompanyBackend, account_id: AccountId) -> SampleGroupList:
    """Show the groups of an account, what each may do, and who is in it."""
    rows = company.rows("SELECT id, name, grants FROM groups WHERE account_id = ? ORDER BY id", account_id)
    members = company.rows(
        "SELECT m.group_id, u.email FROM group_members m JOIN users u ON u.id = m.user_id WHERE u.account_id = ?",
        account_id,
    )
    return SampleGroupList(
        groups=[
            Group(**row, members=[member["email"] for member in members if member["group_id"] == row["id"]])
            for row in rows
        ]
    )
