"""The tools of the LDAP connector that read."""

from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.ldap.changes import changes
from gaby_connectors.ldap.config import LdapConfig
from gaby_connectors.ldap.dialect import LdapDialect, first, texts
from gaby_connectors.ldap.directory import LdapDirectory, LdapEntry
from gaby_connectors.ldap.library import (
    Connection,
    escape_filter_chars,
)
from gaby_connectors.ldap.names import UserId
from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest

_SYSTEM, _EXTERNAL = ResultLabel.SYSTEM, ResultLabel.EXTERNAL
_PERSON = {
    "user_id": _SYSTEM,
    "dn": _SYSTEM,
    "locked": _SYSTEM,
    "locked_since": _SYSTEM,
    "must_change_password": _SYSTEM,
    "mail": _EXTERNAL,
}
_NEVER = ("", "0", "0000-00-00")


class Person(BaseModel):
    user_id: str
    dn: str
    name: str | None
    mail: str | None
    title: str | None
    department: str | None
    locked: bool
    locked_since: str | None
    must_change_password: bool
    password_changed_at: str | None


class LdapUserList(BaseModel):
    users: list[Person]


class LdapUserLookup(BaseModel):
    user: Person


class Group(BaseModel):
    name: str
    dn: str
    description: str | None


class LdapGroupList(BaseModel):
    user_id: str
    groups: list[Group]


connector = Connector(
    "ldap",
    version="1.0.0",
    instructions="A directory of people and groups. Find a person with find_users; use the user_id it gives elsewhere.",
    config=LdapConfig,
    backend=LdapDirectory,
)


@connector.tool(
    ToolManifest(
        scope="read",
        path="users/find",
        lookups=("query",),
        results={f"users[].{name}": label for name, label in _PERSON.items()},
        owner={"users[]": "mail"},
    ),
    more="Search for more of the name.",
)
async def find_users(
    directory: LdapDirectory,
    query: Annotated[str, Field(min_length=2, max_length=200, description="A mail address, login or part of a name.")],
    limit: Annotated[int, Field(ge=1, le=100, description="How many to give at most.")] = 20,
) -> LdapUserList:
    """Find people by mail address, login or name, with whether their account is locked."""
    text = escape_filter_chars(query.strip())
    dialect = directory.dialect
    fits = f"(|(mail={text})({dialect.login}={text})(cn=*{text}*)(displayName=*{text}*))"

    def work(connection: Connection) -> list[LdapEntry]:
        return directory.search(connection, f"(&(objectClass={dialect.user_class}){fits})", ["*"], limit)

    return LdapUserList(users=[_person(dialect, entry) for entry in await directory.run(work)])


@connector.tool(
    ToolManifest(
        scope="read",
        path="users/{user_id}",
        results={f"user.{name}": label for name, label in _PERSON.items()},
        owner={"user": "mail"},
        cache=False,
    )
)
async def get_user(directory: LdapDirectory, user_id: UserId) -> LdapUserLookup:
    """Show one person: name, mail, whether the account is locked and since when, whether the password must change."""
    entry = await directory.run(lambda connection: directory.user(connection, user_id))
    return LdapUserLookup(user=_person(directory.dialect, entry))


@connector.tool(ToolManifest(scope="read", path="users/{user_id}/groups", results={"groups[].dn": _SYSTEM}))
async def list_user_groups(directory: LdapDirectory, user_id: UserId) -> LdapGroupList:
    """List the groups that a person is a member of."""

    def work(connection: Connection) -> list[LdapEntry]:
        return directory.groups_of(connection, directory.user(connection, user_id), user_id)

    entries = await directory.run(work)
    groups = [
        Group(name=first(f.attributes, "cn") or f.dn, dn=f.dn, description=first(f.attributes, "description"))
        for f in entries
    ]
    return LdapGroupList(user_id=user_id, groups=sorted(groups, key=lambda group: group.name))


def _person(dialect: LdapDialect, entry: LdapEntry) -> Person:
    locked = first(entry.attributes, dialect.locked)
    is_locked = locked is not None and locked not in _NEVER
    flag, value = dialect.must_change
    return Person(
        user_id=first(entry.attributes, dialect.login) or "",
        dn=entry.dn,
        name=first(entry.attributes, "displayName") or first(entry.attributes, "cn"),
        mail=first(entry.attributes, "mail"),
        title=first(entry.attributes, "title"),
        department=first(entry.attributes, "departmentNumber") or first(entry.attributes, "department"),
        locked=is_locked,
        locked_since=locked if is_locked else None,
        must_change_password=texts(entry.attributes.get(flag)) == [value],
        password_changed_at=first(entry.attributes, "pwdChangedTime") or first(entry.attributes, "pwdLastSet"),
    )


connector.add(*changes.tools.values())
