"""Mails as people and programs write them, and a desk that has no server."""

from datetime import UTC, datetime

from pydantic import SecretStr

from gaby.tickets.adapters.adapter import RawTicket
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.mail_parser import payload
from gaby.tickets.adapters.email.normalization import incoming
from gaby.tickets.canonical_ticket import IncomingTicket
from tests.support.mail_server import ANN, SUPPORT

MARKER = "gaby-" + "0123456789abcdef" * 2
OFFLINE = EmailConfig(
    imap_host="mail.acme.example",
    imap_user="support",
    imap_password=SecretStr("unused"),
    smtp_host="mail.acme.example",
    from_address=SUPPORT,
    authserv_id="mx.acme.example",
    colleagues=("@acme.example",),
)


def mail_message(
    subject: str = "The VPN drops", body: str = "It drops every hour.", *, sender: str = ANN, **headers: str
) -> bytes:
    """Names of headers with underscores for hyphens."""
    lines = {"From": sender, "To": SUPPORT, "Subject": subject}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    return "".join(f"{name}: {value}\r\n" for name, value in lines.items()).encode() + b"\r\n" + body.encode() + b"\r\n"


def understood(mail: bytes, config: EmailConfig = OFFLINE) -> IncomingTicket:
    """What becomes of a mail that begins a thread."""
    read = payload(mail, datetime(2030, 1, 2, tzinfo=UTC), config)
    return incoming(RawTicket(read["id"], {**read, "root": {"id": read["id"]}}), config)
