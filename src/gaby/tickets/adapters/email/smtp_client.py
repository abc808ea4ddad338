"""Sends a mail over SMTP, and knows exactly how far it came."""

import re
import smtplib
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from gaby.tickets.adapters.adapter import DeskOutcomeUnknown, DeskRefused, DeskUnavailable
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.connections import ANSWER_WITHIN, MailConnection, said, tls, what_failed
from gaby_connectors.sdk.address_guard import AddressNotAllowed

_DOT = re.compile(rb"(?m)^\.")
# A server checks a mail before it says that it has it: for viruses, for spam. RFC 5321 gives it ten minutes.
_ACCEPT_WITHIN = 120.0


class _PlainSmtpClient(smtplib.SMTP):
    def __init__(self, line: MailConnection, config: EmailConfig) -> None:
        self._line = line
        super().__init__(config.smtp_host, config.smtp_port, config.domain, timeout=ANSWER_WITHIN)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._line.outside.connect(host, port, timeout)

    def connect(self, host: str = "localhost", port: int = 0, source_address: Any = None) -> tuple[int, bytes]:
        self._line.watch(lambda: self.sock)
        return super().connect(host, port, source_address)


class _TlsSmtpClient(smtplib.SMTP_SSL):
    def __init__(self, line: MailConnection, config: EmailConfig) -> None:
        self._line = line
        super().__init__(config.smtp_host, config.smtp_port, config.domain, timeout=ANSWER_WITHIN, context=tls())

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self.context.wrap_socket(self._line.outside.connect(host, port, timeout), server_hostname=host)

    def connect(self, host: str = "localhost", port: int = 0, source_address: Any = None) -> tuple[int, bytes]:
        self._line.watch(lambda: self.sock)
        return super().connect(host, port, source_address)


def send(config: EmailConfig, mail: bytes, recipients: Sequence[str], line: MailConnection) -> None:
    """To all of them or to none: the server takes the mail once, for everybody in the envelope."""
    smtp = _connected(config, line)
    try:
        _before(smtp, config, recipients)
        _whole(smtp, config, mail)
        with suppress(smtplib.SMTPException, OSError):
            smtp.quit()
    finally:
        smtp.close()


def try_out(config: EmailConfig, line: MailConnection) -> None:
    """Signs in, and sends nothing."""
    smtp = _connected(config, line)
    with suppress(smtplib.SMTPException, OSError):
        smtp.quit()
    smtp.close()


def _connected(config: EmailConfig, line: MailConnection) -> smtplib.SMTP:
    host = config.smtp_host
    try:
        smtp = (_TlsSmtpClient if config.smtp_tls == "tls" else _PlainSmtpClient)(line, config)
        try:
            if config.smtp_tls == "starttls":
                smtp.starttls(context=tls())
            if config.smtp_user:
                smtp.login(config.smtp_user, config.smtp_password.get_secret_value())
        except BaseException:
            smtp.close()
            raise
    except smtplib.SMTPResponseException as error:
        raise _answer(host, error.smtp_code, error.smtp_error) from None
    except smtplib.SMTPServerDisconnected as error:
        raise DeskUnavailable(what_failed(host, error)) from None
    except smtplib.SMTPException as error:
        raise DeskRefused(f"{host} cannot be used: {said(error)}") from None
    except ValueError:
        # The error quotes what it could not encode.
        raise DeskRefused(f"{host} takes only ASCII characters in its user and password.") from None
    except AddressNotAllowed as error:
        raise DeskRefused(str(error)) from None
    except OSError as error:
        raise DeskUnavailable(what_failed(host, error)) from None
    return smtp


def _before(smtp: smtplib.SMTP, config: EmailConfig, recipients: Sequence[str]) -> None:
    """All that can be refused without a word of the mail being said."""
    try:
        smtp.ehlo_or_helo_if_needed()
        _expect(config.smtp_host, 250, smtp.mail(config.from_address))
        for recipient in recipients:
            _expect(config.smtp_host, 250, smtp.rcpt(recipient))
        _expect(config.smtp_host, 354, smtp.docmd("DATA"))
    except (smtplib.SMTPException, OSError) as error:
        raise DeskUnavailable(what_failed(config.smtp_host, error)) from None


def _whole(smtp: smtplib.SMTP, config: EmailConfig, mail: bytes) -> None:
    host = config.smtp_host
    lines = _DOT.sub(b"..", mail)
    try:
        smtp.send(lines if lines.endswith(b"\r\n") else lines + b"\r\n")
    except (smtplib.SMTPException, OSError) as error:
        # Without the dot at its end it is no mail yet, and no server keeps it.
        raise DeskUnavailable(what_failed(host, error)) from None
    try:
        if smtp.sock is not None:
            smtp.sock.settimeout(_ACCEPT_WITHIN)
        smtp.send(b".\r\n")
        answer = smtp.getreply()
    except (smtplib.SMTPException, OSError):
        raise DeskOutcomeUnknown(f"{host} was given the mail, and did not say whether it took it.") from None
    if not 200 <= answer[0] <= 599:
        raise DeskOutcomeUnknown(f"{host} was given the mail, and its answer cannot be understood.")
    _expect(host, 250, answer)


def _expect(host: str, code: int, answer: tuple[int, bytes]) -> None:
    if answer[0] // 100 != code // 100:
        raise _answer(host, *answer)


def _answer(host: str, code: int, text: bytes | str) -> DeskUnavailable | DeskRefused:
    if 400 <= code <= 499:
        return DeskUnavailable(f"{host} cannot take it now: {code} {said(text)}")
    return DeskRefused(f"{host} refuses: {code} {said(text)}")
