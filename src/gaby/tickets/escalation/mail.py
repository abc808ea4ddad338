"""Escalations by mail, with the investigation as a file."""

import asyncio
import smtplib
import socket
import ssl
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from gaby.kernel.clock import Clock
from gaby.tickets.adapters.adapter import DeskOutcomeUnknown, DeskRefused, DeskUnavailable
from gaby.tickets.adapters.web import is_loopback
from gaby.tickets.escalation.channel import VERDICTS, Escalation
from gaby.tickets.text_cleanup import clean, clean_line
from gaby_connectors.sdk.address_guard import AddressNotAllowed, AddressPolicy

_SECONDS = 20.0
_LONGEST = 100_000


class SmtpServer(BaseModel):
    """The server that sends Gaby's mail."""

    host: Annotated[str, Field(min_length=1, description="The name of the mail server.")]
    port: Annotated[int, Field(ge=1, le=65535, description="587 with STARTTLS, 465 with TLS.")] = 587
    security: Annotated[
        Literal["starttls", "tls", "none"],
        Field(description="How the connection is encrypted; none only on this machine."),
    ] = "starttls"
    username: Annotated[str, Field(description="Empty when the server wants no sign-in.")] = ""
    password: Annotated[SecretStr, Field(description="The password of that user.")] = SecretStr("")
    sender: Annotated[str, Field(min_length=3, description="The address that mails come from.")]

    @model_validator(mode="after")
    def _encrypted(self) -> Self:
        if self.security == "none" and not is_loopback(self.host):
            raise ValueError("a mail server elsewhere is only used with starttls or tls")
        return self


class _PlainSmtp(smtplib.SMTP):
    def __init__(self, outside: AddressPolicy, server: SmtpServer) -> None:
        self._outside = outside
        super().__init__(server.host, server.port, timeout=_SECONDS)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._outside.connect(host, port, timeout)


class _TlsSmtp(smtplib.SMTP_SSL):
    def __init__(self, outside: AddressPolicy, server: SmtpServer, context: ssl.SSLContext) -> None:
        self._outside = outside
        super().__init__(server.host, server.port, timeout=_SECONDS, context=context)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self.context.wrap_socket(self._outside.connect(host, port, timeout), server_hostname=host)


class MailChannel:
    def __init__(self, server: SmtpServer, recipients: Sequence[str], clock: Clock, outside: AddressPolicy) -> None:
        self._outside = outside
        self._server = server
        self._recipients = recipients
        self._clock = clock

    async def send(self, escalation: Escalation) -> None:
        try:
            message = self._message(escalation).as_bytes()
        except (ValueError, UnicodeError) as error:
            raise DeskRefused("The mail cannot be written: an address in it is malformed.") from error
        await asyncio.to_thread(self._deliver, message)

    def _message(self, escalation: Escalation) -> EmailMessage:
        message = EmailMessage()
        verdict = VERDICTS[escalation.verdict]
        domain = clean_line(self._server.sender.rpartition("@")[2], 200)
        message["From"] = self._server.sender
        message["To"] = ", ".join(self._recipients)
        message["Subject"] = f"[Gaby] {clean_line(escalation.title, 150)}: {verdict}"
        message["Date"] = format_datetime(self._clock.now())
        # The same for each copy, so that mail programs show one.
        message["Message-ID"] = f"<{escalation.id}@{domain}>"
        message["X-Gaby-Id"] = escalation.id
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(_words(escalation, verdict))
        message.add_attachment(
            escalation.investigation.encode("utf-8", "replace"),
            maintype="application",
            subtype="json",
            filename="investigation.json",
        )
        return message

    def _deliver(self, message: bytes) -> None:
        """On a thread, step by step: once the message was handed over, a lost answer leaves it unknown."""
        try:
            connection = self._connected()
        except smtplib.SMTPAuthenticationError as error:
            raise DeskRefused("The mail server does not accept the name and password.") from error
        except smtplib.SMTPNotSupportedError as error:
            raise DeskRefused("The mail server does not offer the encryption or sign-in that is set.") from error
        except AddressNotAllowed as error:
            raise DeskRefused(str(error)) from error
        except (smtplib.SMTPException, OSError) as error:
            raise DeskUnavailable("The mail server cannot be reached.") from error
        try:
            self._send(connection, message)
        finally:
            _quietly(connection.close)

    def _connected(self) -> smtplib.SMTP:
        server = self._server
        context = ssl.create_default_context()
        if server.security == "tls":
            connection: smtplib.SMTP = _TlsSmtp(self._outside, server, context)
        else:
            connection = _PlainSmtp(self._outside, server)
        try:
            connection.ehlo_or_helo_if_needed()
            if server.security == "starttls":
                connection.starttls(context=context)
            if server.username:
                connection.login(server.username, server.password.get_secret_value())
        except BaseException:
            _quietly(connection.close)
            raise
        return connection

    def _send(self, connection: smtplib.SMTP, message: bytes) -> None:
        try:
            _demand(connection.mail(self._server.sender))
            answers = [connection.rcpt(each) for each in self._recipients]
            if not any(code < 300 for code, _ in answers):
                _demand(answers[0])
        except (smtplib.SMTPServerDisconnected, OSError) as error:
            raise DeskUnavailable("The mail server broke off.") from error
        try:
            _demand(connection.data(message))
        except smtplib.SMTPDataError as error:
            _demand((error.smtp_code, b""))
        except (smtplib.SMTPServerDisconnected, OSError) as error:
            raise DeskOutcomeUnknown("The mail server broke off while it took the mail.") from error
        _quietly(connection.quit)


def _words(escalation: Escalation, verdict: str) -> str:
    parts = [
        f"{clean_line(escalation.title, 500)}\n{clean_line(escalation.link, 2000)}".strip(),
        f"Gaby: {verdict}",
        "\n".join(f"- {clean_line(each, 1000)}" for each in escalation.reasons),
        clean(escalation.summary, _LONGEST),
        "\n".join(clean_line(each, 1000) for each in escalation.steps),
        "The whole investigation is attached.",
        escalation.id,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _demand(answer: tuple[int, bytes]) -> None:
    code = answer[0]
    if code >= 500:
        raise DeskRefused(f"The mail server refuses the mail with {code}. Check the sender and the recipients.")
    if code >= 400:
        raise DeskUnavailable(f"The mail server takes no mail at the moment ({code}).")


def _quietly(close: Callable[[], object]) -> None:
    try:
        close()
    except (smtplib.SMTPException, OSError):
        return
