"""What differs between directories: names of attributes, and how an account is locked."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

Attributes = Mapping[str, Any]


class LdapDialect(NamedTuple):
    user_class: str
    login: str
    locked: str
    """The attribute that tells since when an account is locked."""
    unlocked: list[str | bytes]
    """What that attribute is set to, to unlock; nothing means that it is removed."""
    must_change: tuple[str, str]
    password: str


OPENLDAP = LdapDialect("inetOrgPerson", "uid", "pwdAccountLockedTime", [], ("pwdReset", "TRUE"), "userPassword")
ACTIVE_DIRECTORY = LdapDialect("user", "sAMAccountName", "lockoutTime", ["0"], ("pwdLastSet", "0"), "unicodePwd")


def dialect_of(kind: str) -> LdapDialect:
    return ACTIVE_DIRECTORY if kind == "active_directory" else OPENLDAP


def encoded_password(dialect: LdapDialect, password: str) -> str | bytes:
    return f'"{password}"'.encode("utf-16-le") if dialect is ACTIVE_DIRECTORY else password


def texts(value: Any) -> list[str]:
    """The values of an attribute, however many there are."""
    several = cast("list[Any]", value) if isinstance(value, list) else [] if value in (None, b"", "") else [value]
    return [part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part) for part in several]


def first(attributes: Attributes, name: str) -> str | None:
    values = texts(attributes.get(name))
    return values[0] if values else None
