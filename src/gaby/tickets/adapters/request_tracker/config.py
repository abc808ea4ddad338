"""What a Request Tracker needs to be known."""

import re
from base64 import b64encode
from typing import Annotated, Self

import httpx2
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

from gaby.kernel.outcomes import Verdict
from gaby.kernel.text import CleanStr
from gaby.tickets.adapters.web import is_loopback
from gaby.tickets.canonical_ticket import Priority

_SAFE = re.compile(r"[^'\"\\]+")


def split(value: object) -> object:
    """A text with commas is a list."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


class RequestTrackerConfig(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: Annotated[str, Field(description="Where people open it, such as https://rt.acme.example.")]
    token: Annotated[SecretStr, Field(description="An authentication token of Gaby's own user.")] = SecretStr("")
    user: Annotated[str, Field(description="With a password, instead of a token.")] = ""
    password: Annotated[SecretStr, Field(description="The password of `user`.")] = SecretStr("")
    queues: Annotated[
        tuple[CleanStr, ...],
        BeforeValidator(split),
        Field(
            description="The queues whose tickets Gaby sees, with commas between them. Empty: all that its user sees."
        ),
    ] = ()
    status_auto_resolved: Annotated[
        str, Field(description="The status of a ticket that Gaby resolved. Empty: it stays as it is.")
    ] = "resolved"
    status_needs_client: Annotated[str, Field(description="Of one that waits for the customer.")] = "stalled"
    status_needs_tech: Annotated[str, Field(description="Of one that a colleague has to take.")] = "open"
    status_needs_l2: Annotated[str, Field(description="Of one that the second level has to take.")] = "open"
    closed_statuses: Annotated[
        tuple[CleanStr, ...],
        BeforeValidator(split),
        Field(description="A ticket with one of these is closed, and Gaby lets it be."),
    ] = ("resolved", "rejected", "deleted")
    priority_medium: Annotated[int, Field(description="The number from which a priority is medium.")] = 50
    priority_high: Annotated[int, Field(description="The number from which it is high.")] = 100
    priority_critical: Annotated[int, Field(description="The number from which it is critical.")] = 200
    since: Annotated[
        AwareDatetime | None,
        Field(description="Tickets that changed since then are read too. Without it, only those from now on."),
    ] = None

    @field_validator("base_url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        url = _parsed(value)
        if url is None or url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query:
            raise ValueError("must be an address such as https://rt.acme.example")
        if url.scheme == "http" and not is_loopback(url.host):
            raise ValueError("must begin with https://, as the password is sent there")
        return value.rstrip("/")

    @field_validator("queues")
    @classmethod
    def _quotable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(_SAFE.fullmatch(queue) for queue in value):
            raise ValueError("must be names without quotes and backslashes")
        return value

    @model_validator(mode="after")
    def _signs_in(self) -> Self:
        if bool(self.token.get_secret_value()) == bool(self.user):
            raise ValueError("needs either a token, or a user and a password")
        return self

    @property
    def authorization(self) -> str:
        if token := self.token.get_secret_value():
            return f"token {token}"
        return "Basic " + b64encode(f"{self.user}:{self.password.get_secret_value()}".encode()).decode()

    def status(self, verdict: Verdict) -> str:
        """What the desk calls it; empty where its status is left alone."""
        names: dict[Verdict, str] = {
            "auto_resolved": self.status_auto_resolved,
            "needs_client": self.status_needs_client,
            "needs_tech": self.status_needs_tech,
            "needs_l2": self.status_needs_l2,
        }
        return names.get(verdict, "")

    def priority(self, number: int) -> Priority:
        if number >= self.priority_critical:
            return "critical"
        if number >= self.priority_high:
            return "high"
        return "medium" if number >= self.priority_medium else "low"


def _parsed(value: str) -> httpx2.URL | None:
    try:
        return httpx2.URL(value)
    except httpx2.InvalidURL:
        return None
