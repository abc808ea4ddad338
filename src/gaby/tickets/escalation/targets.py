"""Where escalations go, as an admin says it: `slack:https://...`, `webhook:https://...` or `email:ADDRESS`."""

from typing import Annotated, Literal, Self

import httpx2
from pydantic import BaseModel, Field, SecretStr, ValidationError, model_validator

from gaby.kernel.clock import Clock
from gaby.kernel.errors import Forbidden, Invalid
from gaby.tickets.adapters.web import checked_address, host_of
from gaby.tickets.escalation.channel import Escalation, EscalationChannel
from gaby.tickets.escalation.mail import MailChannel, SmtpServer
from gaby.tickets.escalation.slack import SlackChannel
from gaby.tickets.escalation.webhook import WebhookChannel
from gaby.tickets.text_cleanup import clean_email
from gaby_connectors.sdk.address_guard import AddressNotAllowed, AddressPolicy
from gaby_connectors.sdk.guarded_http import GuardedTransport

Kind = Literal["slack", "webhook", "email"]


class EscalationTarget(BaseModel):
    kind: Annotated[Kind, Field(description="slack, webhook or email.")]
    address: Annotated[
        SecretStr,
        Field(
            description="Slack's webhook address, which is a secret; your own address; or mail addresses with commas."
        ),
    ]
    secret: Annotated[
        SecretStr, Field(description="What deliveries to a webhook are signed with, in x-gaby-signature.")
    ] = SecretStr("")
    smtp: Annotated[SmtpServer | None, Field(description="For email: the server that sends it.")] = None
    any_address: Annotated[
        bool, Field(description="Set up by somebody who manages the installation, so it may be inside the network.")
    ] = False

    @model_validator(mode="after")
    def _usable(self) -> Self:
        address = self.address.get_secret_value()
        if self.kind != "email":
            checked_address(address)
            if self.kind == "webhook" and len(self.secret.get_secret_value()) < 16:
                raise ValueError(
                    "a webhook needs a secret of at least 16 characters, so that its receiver can trust it"
                )
        else:
            recipients = self.recipients()
            if not recipients or len(recipients) != len(address.split(",")):
                raise ValueError("must be mail addresses with commas between them")
            if self.smtp is None:
                raise ValueError("a mail server must be named that sends the mails")
        return self

    def check(self, outside: AddressPolicy) -> None:
        """What can be told without looking a name up: `Forbidden`. The rest is judged when it is used."""
        host = self.smtp.host if self.smtp is not None else host_of(self.address.get_secret_value().strip())
        try:
            outside.check_name(host)
        except AddressNotAllowed as error:
            raise Forbidden(str(error)) from None

    def recipients(self) -> list[str]:
        return [address for each in self.address.get_secret_value().split(",") if (address := clean_email(each))]


def parse_target(text: str, *, secret: str = "", smtp: SmtpServer | None = None) -> EscalationTarget:
    kind, separator, address = text.partition(":")
    if kind not in ("slack", "webhook", "email") or not separator:
        raise Invalid("An escalation target is slack:https://..., webhook:https://... or email:ADDRESS.")
    try:
        return EscalationTarget(kind=kind, address=SecretStr(address), secret=SecretStr(secret), smtp=smtp)
    except ValidationError as error:
        # The address may be a secret, so pydantic's own message, which shows what it was given, stays here.
        reasons = "; ".join(each["msg"].removeprefix("Value error, ") for each in error.errors())
        raise Invalid(f"The escalation target cannot be used: {reasons}.") from None


def open_channel(
    target: EscalationTarget, http: httpx2.AsyncClient, clock: Clock, outside: AddressPolicy | None = None
) -> EscalationChannel:
    """`outside` is where a target may be that nobody who manages the installation has set up."""
    allowed = AddressPolicy.anywhere() if target.any_address else outside or AddressPolicy()
    if target.smtp is not None and target.kind == "email":
        return MailChannel(target.smtp, target.recipients(), clock, allowed)
    return _open_web(target, http, clock) if target.any_address else _GuardedChannel(target, clock, allowed)


def _open_web(target: EscalationTarget, http: httpx2.AsyncClient, clock: Clock) -> EscalationChannel:
    address = target.address.get_secret_value().strip()
    if target.kind == "slack":
        return SlackChannel(address, http, clock)
    return WebhookChannel(address, target.secret.get_secret_value(), http, clock)


class _GuardedChannel:
    """Escalations are rare, so each has a client of its own."""

    def __init__(self, target: EscalationTarget, clock: Clock, outside: AddressPolicy) -> None:
        self._target = target
        self._clock = clock
        self._outside = outside

    async def send(self, escalation: Escalation) -> None:
        async with httpx2.AsyncClient(transport=GuardedTransport(self._outside)) as http:
            await _open_web(self._target, http, self._clock).send(escalation)
