"""What support may change about a user: locks, second factors, memberships, and whether the user exists."""

from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.sample_company.base import UserId, connector
from gaby_connectors.sample_company.company import CompanyBackend, Row, done_before
from gaby_connectors.sdk.errors import conflict, invalid
from gaby_connectors.sdk.manifest import Autonomy, ToolManifest
from gaby_connectors.sdk.tool import WriteCall

GroupId = Annotated[str, Field(description="A group's id, such as grp_011.", pattern=r"^grp_\d{3,}$")]


class UserChangeResult(BaseModel):
    user_id: str
    status: str
    done: str


class MembershipChangeResult(BaseModel):
    user_id: str
    group_id: str
    done: str


@connector.tool(
    ToolManifest(
        scope="write",
        path="users/{user_id}/unlock",
        steering=("user_id",),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="user_id",
    ),
    repeatable=True,
)
async def unlock_user(company: CompanyBackend, user_id: UserId, call: WriteCall) -> UserChangeResult:
    """Unlock a user who was locked out after failed logins. The password stays as it is."""
    row = _existing(company, user_id)
    if row["locked_at"] is None:
        return UserChangeResult(user_id=user_id, status=row["status"], done="The user was not locked.")
    result = UserChangeResult(
        user_id=user_id, status="active", done=f"Unlocked; it was locked since {row['locked_at']}."
    )
    return company.effect(
        "unlock_user",
        call,
        result,
        ("UPDATE users SET locked_at = NULL, lock_reason = NULL, failed_logins = 0 WHERE id = ?", user_id),
    )


@connector.tool(
    ToolManifest(
        scope="write",
        path="users/{user_id}/mfa/reset",
        dangerous=True,
        steering=("user_id",),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="user_id",
    ),
    repeatable=True,
)
async def reset_mfa(company: CompanyBackend, user_id: UserId, call: WriteCall) -> UserChangeResult:
    """Remove a user's second factor, so that a new one is set up at the next login. Check who is asking first."""
    row = _existing(company, user_id)
    result = UserChangeResult(
        user_id=user_id, status=row["status"], done="A new second factor is set up at next login."
    )
    return company.effect("reset_mfa", call, result, ("UPDATE users SET mfa = 'to_be_set_up' WHERE id = ?", user_id))


@connector.tool(
    ToolManifest(
        scope="write",
        path="groups/{group_id}/members/{user_id}/add",
        dangerous=True,
        steering=("user_id", "group_id"),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="user_id",
    ),
    repeatable=True,
)
async def add_user_to_group(
    company: CompanyBackend, user_id: UserId, group_id: GroupId, call: WriteCall
) -> MembershipChangeResult:
    """Give a user everything that a group of the same account may do."""
    group = _group_of_the_same_account(company, user_id, group_id)
    result = MembershipChangeResult(user_id=user_id, group_id=group_id, done=f"Added; this grants {group['grants']}.")
    return company.effect(
        "add_user_to_group",
        call,
        result,
        ("INSERT OR IGNORE INTO group_members VALUES (?, ?)", group_id, user_id),
    )


@connector.tool(
    ToolManifest(
        scope="write",
        path="groups/{group_id}/members/{user_id}/remove",
        dangerous=True,
        steering=("user_id", "group_id"),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="user_id",
    ),
    repeatable=True,
)
async def remove_user_from_group(
    company: CompanyBackend, user_id: UserId, group_id: GroupId, call: WriteCall
) -> MembershipChangeResult:
    """Take away from a user what a group may do."""
    group = _group_of_the_same_account(company, user_id, group_id)
    result = MembershipChangeResult(user_id=user_id, group_id=group_id, done=f"Removed; this takes {group['grants']}.")
    return company.effect(
        "remove_user_from_group",
        call,
        result,
        ("DELETE FROM group_members WHERE group_id = ? AND user_id = ?", group_id, user_id),
    )


@connector.tool(
    ToolManifest(
        scope="write",
        path="users/{user_id}/delete",
        dangerous=True,
        forbidden_in_autonomy=(Autonomy.INVESTIGATE, Autonomy.PROPOSE),
        steering=("user_id",),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="user_id",
    ),
    lookup=done_before(UserChangeResult),
)
async def delete_user(company: CompanyBackend, user_id: UserId, call: WriteCall) -> UserChangeResult:
    """Delete a user for good: name, logins and memberships. It cannot be undone."""
    row = _existing(company, user_id)
    if row["role"] == "owner":
        raise invalid("The owner of an account cannot be deleted. Make somebody else the owner first.")
    gone = f"{user_id}@deleted.example"
    result = UserChangeResult(user_id=user_id, status="deleted", done="Deleted for good.")
    return company.effect(
        "delete_user",
        call,
        result,
        ("DELETE FROM group_members WHERE user_id = ?", user_id),
        ("DELETE FROM logins WHERE user_id = ?", user_id),
        ("UPDATE users SET status = 'deleted', name = 'deleted', email = ? WHERE id = ?", gone, user_id),
    )


def _group_of_the_same_account(company: CompanyBackend, user_id: str, group_id: str) -> Row:
    user = _existing(company, user_id)
    group = company.row("group", "SELECT * FROM groups WHERE id = ?", group_id)
    if group["account_id"] != user["account_id"]:
        raise invalid("The group belongs to another account than the user.")
    return group


def _existing(company: CompanyBackend, user_id: str) -> Row:
    row = company.row("user", "SELECT * FROM users WHERE id = ?", user_id)
    if row["status"] == "deleted":
        raise conflict("This user was deleted.")
    return row
