"""An answer as a mail: in its thread, from a program that says so, with nothing that has to be fetched."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.headers import DIGEST, MOST_IDS, TICKET, is_id
from gaby.tickets.adapters.markup import as_html
from gaby.tickets.text_cleanup import clean, clean_line

_MOST_BODY = 500_000


@dataclass(frozen=True)
class OutgoingMail:
    ticket: str
    message_id: str
    to: str
    subject: str
    body: str
    thread: Sequence[str]
    """The ids of the messages before it, oldest first."""
    at: datetime


def mail(answer: OutgoingMail, config: EmailConfig) -> bytes:
    message = EmailMessage(policy=SMTP)
    name, domain = config.from_address.rsplit("@", 1)
    message["From"] = Address(config.from_name, name, domain)
    message["To"] = answer.to
    message["Subject"] = _subject(answer.subject)
    message["Date"] = format_datetime(answer.at)
    # So that other programs do not answer it.
    message["Auto-Submitted"] = "auto-replied"
    message["X-Auto-Response-Suppress"] = "All"
    body = clean(answer.body, _MOST_BODY).strip() + "\n"
    message.set_content(body)
    message.add_alternative(f"<html><body>\n{as_html(body)}</body></html>\n", subtype="html")
    # The library would encode an id that is longer than a line, and then nobody finds it.
    return _threading(answer) + message.as_bytes()


def _threading(answer: OutgoingMail) -> bytes:
    thread = [known for known in answer.thread if is_id(known) and not known.startswith(DIGEST)][-MOST_IDS:]
    lines = [f"Message-ID: <{answer.message_id}>"]
    if is_id(answer.ticket):
        lines.append(f"{TICKET}: <{answer.ticket}>")
    if thread:
        lines.append(f"In-Reply-To: <{thread[-1]}>")
        lines.append("References: " + "\r\n ".join(f"<{before}>" for before in thread))
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def _subject(text: str) -> str:
    subject = clean_line(text, 300)
    return subject if subject.lower().startswith("re:") else f"Re: {subject}".strip()
