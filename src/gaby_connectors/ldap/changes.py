"""The tools of the LDAP connector that change something."""

import os
import secrets
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from gaby_connectors.ldap.dialect import encoded_password, first, texts
from gaby_connectors.ldap.directory import Changes, LdapDirectory, LdapEntry
from gaby_connectors.ldap.library import (
    MODIFY_ADD,
    MODIFY_DELETE,
    MODIFY_REPLACE,
    Connection,
    LDAPAttributeOrValueExistsResult,
    LDAPNoSuchAttributeResult,
)
from gaby_connectors.ldap.names import GroupName, UserId
from gaby_connectors.sdk.connector import Toolset
from gaby_connectors.sdk.manifest import ToolManifest
from gaby_connectors.sdk.tool import WriteCall

changes = Toolset()


class UnlockResult(BaseModel):
    user_id: str
    was_locked: bool
    locked_since: str | None


class PasswordReset(BaseModel):
    user_id: str
    must_change_at_next_logon: bool
    handed_over: str


class LdapMembership(BaseModel):
    user_id: str
    group: str
    change: Literal["added", "removed", "none"]


@changes.tool(
    ToolManifest(
        scope="write", path="users/{user_id}/unlock", steering=("user_id",), supports_dry_run=True, idempotent=True
    ),
    repeatable=True,
)
async def unlock_account(directory: LdapDirectory, user_id: UserId, call: WriteCall) -> UnlockResult:
    """Unlock an account that was locked after wrong passwords. The password stays as it is."""
    dialect = directory.dialect

    def work(connection: Connection) -> str | None:
        user = directory.user(connection, user_id)
        since = first(user.attributes, dialect.locked)
        if since is None or since == "0":
            return None
        if not call.dry_run:
            how = MODIFY_REPLACE if dialect.unlocked else MODIFY_DELETE
            directory.change(connection, user.dn, {dialect.locked: [(how, dialect.unlocked)]})
        return since

    since = await directory.run(work)
    return UnlockResult(user_id=user_id, was_locked=since is not None, locked_since=since)


@changes.tool(
    ToolManifest(
        scope="write",
        path="users/{user_id}/reset_password",
        dangerous=True,
        steering=("user_id",),
        supports_dry_run=True,
        idempotent=True,
    )
)
async def reset_password(directory: LdapDirectory, user_id: UserId, call: WriteCall) -> PasswordReset:
    """Replace a password by a random one that must be changed at the next logon. The new password is never shown."""
    folder = directory.config.handover_folder
    password = secrets.token_urlsafe(18)

    def work(connection: Connection) -> None:
        user = directory.user(connection, user_id)
        if call.dry_run:
            return
        # First the paper, then the lock: a password that was set and lost would shut the person out.
        if folder is not None:
            _leave(folder, user_id, password)
        flag, value = directory.dialect.must_change
        sealed = encoded_password(directory.dialect, password)
        new: Changes = {
            directory.dialect.password: [(MODIFY_REPLACE, [sealed])],
            flag: [(MODIFY_REPLACE, [value])],
        }
        directory.change(connection, user.dn, new)

    await directory.run(work)
    delivery = (
        "left in the handover folder" if folder is not None else "to nobody; use the page for forgotten passwords"
    )
    return PasswordReset(user_id=user_id, must_change_at_next_logon=True, handed_over=delivery)


@changes.tool(
    ToolManifest(
        scope="write",
        path="groups/{group}/members/{user_id}/add",
        dangerous=True,
        steering=("user_id", "group"),
        supports_dry_run=True,
        idempotent=True,
    ),
    repeatable=True,
)
async def add_to_group(directory: LdapDirectory, user_id: UserId, group: GroupName, call: WriteCall) -> LdapMembership:
    """Make a person a member of a group, which grants everything that the group may do."""
    return await _change_membership(directory, user_id, group, call, MODIFY_ADD)


@changes.tool(
    ToolManifest(
        scope="write",
        path="groups/{group}/members/{user_id}/remove",
        dangerous=True,
        steering=("user_id", "group"),
        supports_dry_run=True,
        idempotent=True,
    ),
    repeatable=True,
)
async def remove_from_group(
    directory: LdapDirectory, user_id: UserId, group: GroupName, call: WriteCall
) -> LdapMembership:
    """Take a person out of a group, with everything that the group may do."""
    return await _change_membership(directory, user_id, group, call, MODIFY_DELETE)


async def _change_membership(
    directory: LdapDirectory, user_id: str, group: str, call: WriteCall, how: str
) -> LdapMembership:
    def work(connection: Connection) -> bool:
        user, ldap_group = directory.user(connection, user_id), directory.group(connection, group)
        attribute, value = _member(ldap_group, user, user_id)
        is_member = value.lower() in (member.lower() for member in texts(ldap_group.attributes.get(attribute)))
        if is_member == (how == MODIFY_ADD):
            return False
        if not call.dry_run:
            try:
                directory.change(connection, ldap_group.dn, {attribute: [(how, [value])]})
            except (LDAPAttributeOrValueExistsResult, LDAPNoSuchAttributeResult):
                return False
        return True

    changed = await directory.run(work)
    done = ("added" if how == MODIFY_ADD else "removed") if changed else "none"
    return LdapMembership(user_id=user_id, group=group, change=done)


def _member(group: LdapEntry, user: LdapEntry, user_id: str) -> tuple[str, str]:
    """How this kind of group names its members."""
    kinds = {kind.lower() for kind in texts(group.attributes.get("objectClass"))}
    if "posixgroup" in kinds and "member" not in group.attributes:
        return "memberUid", user_id
    return ("uniqueMember" if "groupofuniquenames" in kinds else "member"), user.dn


def _leave(folder: Path, user_id: str, password: str) -> None:
    """For a person to hand over; only the user that runs the connector can read it."""
    name = "".join(character if character.isalnum() or character in "-_" else "_" for character in user_id)
    descriptor = os.open(folder / f"{name}-{secrets.token_hex(4)}.txt", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(password + "\n")
