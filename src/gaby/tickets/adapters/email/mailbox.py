"""Reads a mailbox over IMAP, and changes nothing in it."""

import imaplib
import re
import socket
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime

from gaby.tickets.adapters.adapter import DeskRefused, DeskUnavailable
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.connections import ANSWER_WITHIN, MailConnection, said, tls, what_failed
from gaby_connectors.sdk.address_guard import AddressNotAllowed

_SIZE = re.compile(rb"RFC822\.SIZE (\d{1,15})")
_DATE = re.compile(rb"INTERNALDATE \"([^\"]{1,40})\"")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]+")
_MOST_HEAD = 256_000


@dataclass(frozen=True)
class MailboxStatus:
    validity: int
    next_uid: int


@dataclass(frozen=True)
class FetchedMail:
    mail: bytes
    at: datetime | None
    size: int


class _PlainImap(imaplib.IMAP4):
    def __init__(self, line: MailConnection, host: str, port: int) -> None:
        self._line = line
        super().__init__(host, port, timeout=ANSWER_WITHIN)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        return self._line.outside.connect(self.host, self.port, timeout)

    def open(self, host: str = "", port: int = 143, timeout: float | None = None) -> None:
        super().open(host, port, timeout)
        self._line.watch(lambda: self.sock)


class _TlsImap(imaplib.IMAP4_SSL):
    def __init__(self, line: MailConnection, host: str, port: int) -> None:
        self._line = line
        super().__init__(host, port, ssl_context=tls(), timeout=ANSWER_WITHIN)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        plain = self._line.outside.connect(self.host, self.port, timeout)
        return self.ssl_context.wrap_socket(plain, server_hostname=self.host)

    def open(self, host: str = "", port: int | None = 993, timeout: float | None = None) -> None:
        super().open(host, port, timeout)
        self._line.watch(lambda: self.sock)


class Mailbox:
    def __init__(self, imap: imaplib.IMAP4) -> None:
        self._imap = imap

    def examine(self, folder: str) -> MailboxStatus:
        status, answer = self._imap.select(quoted(folder), readonly=True)
        if status != "OK":
            raise DeskRefused(f"The mailbox {folder} cannot be opened: {said(answer[0])}")
        return MailboxStatus(self._number("UIDVALIDITY"), self._number("UIDNEXT"))

    def _number(self, name: str) -> int:
        answer: list[bytes | None] = self._imap.response(name)[1]
        if not answer or answer[0] is None or not answer[0].isdigit():
            raise DeskRefused(f"The mail server does not tell {name}, without which no mail can be told from another.")
        return int(answer[0])

    def uids(self, first: int, last: int, since: date | None = None) -> list[int]:
        """Those that are there, the oldest first."""
        dated = f" SINCE {since.day}-{_MONTHS[since.month - 1]}-{since.year}" if since else ""
        numbers = self._search(f"UID {first}:{last}{dated}")
        # A range that ends past the last mail matches that mail, whatever its number.
        return sorted(uid for uid in numbers if first <= uid <= last)

    def with_id(self, message_id: str) -> int | None:
        """The first that came with this id, which is without quotes and backslashes: see `heads`."""
        return min(self._search(f'HEADER Message-ID "<{message_id}>"'), default=None)

    def answering(self, message_id: str, sender: str) -> list[int]:
        """Those that name this id, the oldest first. Servers look for the sender, a plain address, in names as well."""
        header = f'"<{message_id}>"'
        return sorted(self._search(f'FROM "{sender}" OR HEADER References {header} HEADER In-Reply-To {header}'))

    def _search(self, what: str) -> list[int]:
        status, answer = self._imap.uid("SEARCH", what)
        if status != "OK":
            raise DeskUnavailable(f"The mail server did not search: {said(answer[0])}")
        return [int(uid) for part in answer if isinstance(part, bytes) for uid in part.split() if uid.isdigit()]

    def fetch(self, uid: int, most: int) -> FetchedMail | None:
        """None when it has gone meanwhile."""
        return self._fetch(uid, f"(RFC822.SIZE INTERNALDATE BODY.PEEK[]<0.{most}>)")

    def head(self, uid: int) -> bytes:
        fetched = self._fetch(uid, f"(BODY.PEEK[HEADER]<0.{_MOST_HEAD}>)")
        return fetched.mail if fetched else b""

    def _fetch(self, uid: int, what: str) -> FetchedMail | None:
        status, answer = self._imap.uid("FETCH", str(uid), what)
        parts: list[bytes | tuple[bytes, bytes] | None] = answer
        if status != "OK":
            raise DeskUnavailable(f"The mail server did not give a mail: {said(answer[0])}")
        literal = next((part for part in parts if isinstance(part, tuple)), None)
        if literal is None:
            return None
        # Servers tell the rest before the mail or after it.
        about = b" ".join((literal[0], *(part for part in parts if isinstance(part, bytes))))
        size = _SIZE.search(about)
        return FetchedMail(literal[1], _moment(about), int(size[1]) if size else len(literal[1]))


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _moment(about: bytes) -> datetime | None:
    match = _DATE.search(about)
    try:
        return datetime.strptime(match[1].decode().strip(), "%d-%b-%Y %H:%M:%S %z") if match else None
    except ValueError:
        return None


def quoted(folder: str) -> str:
    """As IMAP writes names: ASCII, and the rest in an alphabet of its own."""
    name = _NOT_ASCII.sub(_shifted, folder.replace("&", "&-"))
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _shifted(match: re.Match[str]) -> str:
    return "&" + b64encode(match[0].encode("utf-16-be")).decode().rstrip("=").replace("/", ",") + "-"


@contextmanager
def signed_in(config: EmailConfig, line: MailConnection) -> Generator[Mailbox]:
    """Whatever goes wrong with the server is one of the desk's errors."""
    host = config.imap_host
    try:
        imap = _connect(config, line)
        try:
            yield Mailbox(imap)
        finally:
            with suppress(imaplib.IMAP4.error, OSError):
                imap.logout()
    except imaplib.IMAP4.abort as error:
        raise DeskUnavailable(what_failed(host, error)) from None
    except imaplib.IMAP4.error as error:
        raise DeskRefused(f"{host} refuses: {said(error)}") from None
    except AddressNotAllowed as error:
        raise DeskRefused(str(error)) from None
    except OSError as error:
        raise DeskUnavailable(what_failed(host, error)) from None


def _connect(config: EmailConfig, line: MailConnection) -> imaplib.IMAP4:
    kind = _TlsImap if config.imap_tls == "tls" else _PlainImap
    imap = kind(line, config.imap_host, config.imap_port)
    try:
        if config.imap_tls == "starttls":
            imap.starttls(tls())
        _sign_in(imap, config)
    except BaseException:
        with suppress(OSError):
            imap.shutdown()
        raise
    return imap


def _sign_in(imap: imaplib.IMAP4, config: EmailConfig) -> None:
    password = config.imap_password.get_secret_value()
    try:
        imap.authenticate("PLAIN", lambda _: f"\0{config.imap_user}\0{password}".encode())
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error as error:
        if "UNAVAILABLE" in str(error):
            raise DeskUnavailable(f"{config.imap_host} cannot check the password at the moment.") from None
        raise DeskRefused(f"{config.imap_host} refuses the user or the password: {said(error)}") from None
