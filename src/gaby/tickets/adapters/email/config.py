"""What a mailbox needs to be a help desk."""

import re
from typing import Annotated, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from gaby.kernel.text import CleanStr
from gaby.tickets.adapters.web import is_loopback

Tls = Literal["tls", "starttls", "none"]
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")
_COLLEAGUE = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{0,64}@[A-Za-z0-9.-]{1,252}")


def is_address(text: str) -> bool:
    """Plain ASCII addresses only: nothing in them can end a header or a command."""
    return _ADDRESS.fullmatch(text) is not None


def split(value: object) -> object:
    """A text with commas is a list."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


Listed = Annotated[tuple[CleanStr, ...], BeforeValidator(split)]


class EmailConfig(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    imap_host: Annotated[CleanStr, Field(description="The server that keeps the mailbox.")]
    imap_port: Annotated[int, Field(ge=1, le=65535, description="Usually 993 with tls, 143 with starttls.")] = 993
    imap_tls: Annotated[
        Tls, Field(description="How the connection is protected. `none` is for servers on this machine only.")
    ] = "tls"
    imap_user: Annotated[CleanStr, Field(description="The login of the mailbox, often its address.")]
    imap_password: Annotated[SecretStr, Field(description="The password of that login.")]
    mailbox: Annotated[CleanStr, Field(description="The folder whose mails are tickets.")] = "INBOX"
    copies_mailbox: Annotated[
        str, Field(description="Where a filter of yours puts the copies of Gaby's answers; else they are in `mailbox`.")
    ] = ""
    smtp_host: Annotated[CleanStr, Field(description="The server that sends.")]
    smtp_port: Annotated[int, Field(ge=1, le=65535, description="Usually 465 with tls, 587 with starttls.")] = 465
    smtp_tls: Annotated[Tls, Field(description="As `imap_tls`, for sending.")] = "tls"
    smtp_user: Annotated[str, Field(description="Empty when the server asks for no login.")] = ""
    smtp_password: Annotated[SecretStr, Field(description="The password of that login.")] = SecretStr("")
    from_address: Annotated[
        str, Field(description="The address that customers write to. Mail to it must arrive in `mailbox`.")
    ]
    from_name: Annotated[CleanStr, Field(description="The name that customers see as the sender.")] = "Support"
    authserv_id: Annotated[
        str,
        Field(
            description="The name that your own server writes into `Authentication-Results`. "
            "Without it, no sender is verified."
        ),
    ] = ""
    colleagues: Annotated[
        Listed, Field(description="Addresses, or @domains, whose verified mails are a colleague's, not a customer's.")
    ] = ()
    follow_reply_to: Annotated[
        bool,
        Field(
            description="Answer to `Reply-To` where it differs from the sender, as web forms want. Anybody can set it."
        ),
    ] = False
    since: Annotated[
        AwareDatetime | None, Field(description="Mails since then are read too. Without it, only those from now on.")
    ] = None

    @property
    def domain(self) -> str:
        return self.from_address.rpartition("@")[2].lower()

    @property
    def copies(self) -> str:
        return self.copies_mailbox or self.mailbox

    @field_validator("from_address")
    @classmethod
    def _plain_address(cls, value: str) -> str:
        if not is_address(value):
            raise ValueError("must be a plain address such as support@acme.example")
        return value

    @field_validator("colleagues")
    @classmethod
    def _known_colleagues(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(_COLLEAGUE.fullmatch(entry) for entry in value):
            raise ValueError("must be addresses, or domains such as @acme.example")
        return tuple(entry.lower() for entry in value)

    @field_validator("imap_user", "mailbox", "copies_mailbox", "smtp_user", "authserv_id")
    @classmethod
    def _one_line(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError("must be one line without control characters")
        return value

    @model_validator(mode="after")
    def _protected(self) -> Self:
        for host, tls in ((self.imap_host, self.imap_tls), (self.smtp_host, self.smtp_tls)):
            if tls == "none" and not is_loopback(host):
                raise ValueError(f"{host} is not on this machine: choose tls or starttls")
        return self
