"""A directory that is asked over LDAP. Names from outside only ever go into filters, escaped."""

import asyncio
import ssl
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar, cast

from gaby_connectors.ldap.config import LdapConfig
from gaby_connectors.ldap.dialect import Attributes, dialect_of
from gaby_connectors.ldap.library import (
    NONE,
    SUBTREE,
    Connection,
    LDAPBindError,
    LDAPCommunicationError,
    LDAPException,
    LDAPInsufficientAccessRightsResult,
    LDAPInvalidCredentialsResult,
    LDAPSizeLimitExceededResult,
    LDAPSocketOpenError,
    Server,
    Tls,
    escape_filter_chars,
)
from gaby_connectors.sdk.backend import Backend
from gaby_connectors.sdk.errors import ToolError, conflict, denied, invalid, not_found, transient
from gaby_connectors.sdk.manifest import ErrorKind

ResultT = TypeVar("ResultT")
Changes = Mapping[str, list[tuple[str, list[str | bytes]]]]


class LdapEntry(NamedTuple):
    dn: str
    attributes: Attributes


class LdapDirectory(Backend):
    config: LdapConfig

    def __init__(self, config: LdapConfig) -> None:
        super().__init__(config)
        self.dialect = dialect_of(config.kind)

    async def run(self, operation: Callable[[Connection], ResultT]) -> ResultT:
        """Does something with a connection of its own, in a thread: the library waits."""

        def working() -> ResultT:
            with self._connection() as connection:
                return operation(connection)

        return await asyncio.to_thread(working)

    def search(
        self, connection: Connection, filter_text: str, attributes: list[str], limit: int = 50
    ) -> list[LdapEntry]:
        with suppress(LDAPSizeLimitExceededResult):
            _library(connection).search(
                self.config.base_dn,
                filter_text,
                SUBTREE,
                attributes=attributes,
                size_limit=limit,
                get_operational_attributes=True,
            )
        entries = cast("list[dict[str, Any]]", connection.response or [])
        return [LdapEntry(str(e["dn"]), e["raw_attributes"]) for e in entries if e.get("type") == "searchResEntry"]

    def user(self, connection: Connection, user_id: str) -> LdapEntry:
        name = escape_filter_chars(user_id)
        match = self.search(
            connection, f"(&(objectClass={self.dialect.user_class})({self.dialect.login}={name}))", ["*"], 2
        )
        return _only(match, "user")

    def group(self, connection: Connection, group: str) -> LdapEntry:
        name = escape_filter_chars(group)
        kinds = "(|(objectClass=groupOfNames)(objectClass=group)(objectClass=posixGroup))"
        return _only(self.search(connection, f"(&{kinds}(cn={name}))", ["*"], 2), "group")

    def groups_of(self, connection: Connection, user: LdapEntry, user_id: str) -> list[LdapEntry]:
        dn, name = escape_filter_chars(user.dn), escape_filter_chars(user_id)
        return self.search(
            connection, f"(|(member={dn})(uniqueMember={dn})(memberUid={name}))", ["cn", "description"], 500
        )

    def change(self, connection: Connection, dn: str, changes: Changes) -> None:
        _library(connection).modify(dn, dict(changes))

    async def check(self) -> str:
        identity = await self.run(lambda connection: connection.extend.standard.who_am_i())
        return f"The directory answers; signed in as {identity or self.config.bind_dn}."

    def explain(self, error: Exception) -> Exception:
        match error:
            case LDAPInvalidCredentialsResult() | LDAPBindError():
                return ToolError(ErrorKind.AUTH_EXPIRED, "The directory does not accept this connector's password.")
            case LDAPSocketOpenError():
                return transient("The directory does not answer.")
            case LDAPCommunicationError():
                return transient("The connection to the directory broke.", outcome="unknown")
            case LDAPInsufficientAccessRightsResult():
                return denied("The directory does not let this connector do that.")
            case LDAPException():
                return invalid(
                    f"The directory says: {type(error).__name__.removeprefix('LDAP').removesuffix('Result')}."
                )
            case _:
                return error

    @contextmanager
    def _connection(self) -> Generator[Connection]:
        config = self.config
        tls = Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=str(config.ca_file) if config.ca_file else None)
        server = Server(config.url, get_info=NONE, tls=tls, connect_timeout=config.seconds)
        connection = Connection(
            server,
            config.bind_dn,
            config.bind_password.get_secret_value(),
            auto_referrals=False,
            receive_timeout=config.seconds,
            raise_exceptions=True,
        )
        try:
            if config.start_tls:
                _library(connection).start_tls()
            _library(connection).bind()
            yield connection
        finally:
            _close(connection)


def _library(connection: Connection) -> Any:
    """The library's own types leave most arguments out."""
    return connection


def _close(connection: Connection) -> None:
    """Also after a connection that failed half-way, whose socket the library would leave open."""
    socket = _library(connection).socket
    with suppress(LDAPException):
        _library(connection).unbind()
    if socket is not None:
        socket.close()


def _only(entries: list[LdapEntry], what: str) -> LdapEntry:
    if not entries:
        raise not_found(f"There is no such {what}.")
    if len(entries) > 1:
        raise conflict(f"There are several {what}s of that name.")
    return entries[0]
