"""A mail server on loopback that takes mails, refuses them, or hangs up."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage


@dataclass
class ScriptedSmtp:
    port: int = 0
    answers: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """What is said to a command, or to a recipient, instead of the usual; nothing at all hangs up."""
    mails: list[EmailMessage] = field(default_factory=list[EmailMessage])
    recipients: list[str] = field(default_factory=list[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(self.answers.get("greeting", b"220 mail.acme.example ESMTP\r\n"))
            while command := (await reader.readline()).decode("latin-1").strip():
                if not await self._answer(command, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, command: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        verb = command.partition(" ")[0].upper()
        if verb == "RCPT":
            recipient = command.partition(":")[2].strip("<> ")
            self.recipients.append(recipient)
            verb = recipient if recipient in self.answers else verb
        if verb == "DATA" and "DATA" not in self.answers:
            writer.write(b"354 go on\r\n")
            told = await reader.readuntil(b"\r\n.\r\n")
            mail = message_from_bytes(told[:-5], policy=policy.default)
            assert isinstance(mail, EmailMessage)
            self.mails.append(mail)
            verb = "end"
        answer = self.answers.get(verb, b"250 fine\r\n")
        writer.write(answer)
        await writer.drain()
        return bool(answer) and verb != "QUIT"


@asynccontextmanager
async def scripted_smtp() -> AsyncGenerator[ScriptedSmtp]:
    smtp = ScriptedSmtp()
    server = await asyncio.start_server(smtp.serve, "127.0.0.1", 0, limit=10_000_000)
    smtp.port = server.sockets[0].getsockname()[1]
    try:
        yield smtp
    finally:
        server.close()
        await server.wait_closed()
