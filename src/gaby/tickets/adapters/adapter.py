"""What every help desk adapter offers: tickets in, answers out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

import httpx2
from pydantic import BaseModel

from gaby.kernel.clock import Clock
from gaby.kernel.errors import GabyError
from gaby.kernel.outcomes import Verdict
from gaby.tickets.canonical_ticket import IncomingTicket, Voucher
from gaby_connectors.sdk.address_guard import AddressPolicy


@dataclass(frozen=True)
class RawTicket:
    """A ticket as the desk gave it: JSON, of which nothing is trusted yet."""

    external_id: str
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class TicketPage:
    """Tickets that are new or changed since the cursor, oldest change first."""

    tickets: Sequence[RawTicket]
    cursor: str
    """Stored with the tickets of this page; asked with it, the desk gives what comes after them. It may give a ticket
    again, never leave one out."""
    more: bool = False


@dataclass(frozen=True)
class VerifiedDelivery:
    """A webhook delivery whose signature was checked."""

    id: str
    """The same delivery has the same id, and nobody without the secret can make it look like another one."""
    tickets: Sequence[RawTicket]


@dataclass(frozen=True)
class DeskReply:
    body: str
    """Markdown, already cleaned: no remote images, no deceiving links."""
    marker: str
    """`gaby-` and 32 digits, unlike any other reply's. The adapter puts it where it can be found again and where people
    hardly notice it: a message id, a header, the last line."""
    private: bool = False


@dataclass(frozen=True)
class DeskCapabilities:
    webhooks: bool = False
    private_replies: bool = False
    statuses: bool = False
    """Whether the desk's own status can be set."""
    time_entries: bool = False
    idempotent_replies: bool = False
    """The desk itself sees that a reply with the same marker comes a second time."""
    finds_replies: bool = False
    """`find_reply` sees every reply that the desk has accepted, at once."""


class DeskUnavailable(GabyError):
    """The help desk cannot be reached or is too busy. Nothing is lost; Gaby tries again."""

    status = 503

    def __init__(self, message: str | None = None, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DeskRefused(GabyError):
    """The help desk refuses this. Check the address and the credentials of this desk."""

    status = 502


class DeskOutcomeUnknown(GabyError):
    """The help desk was told, but did not say whether it has done it."""

    status = 502


class WebhookRefused(GabyError):
    """The delivery is not signed with this desk's secret, is too old, or was delivered before. Nothing was stored."""

    status = 401


class TicketUnreadable(GabyError):
    """What the desk sent cannot be read as a ticket."""

    status = 422


class TicketAdapter(Protocol):
    """Every adapter is source and sink. Methods that talk to the desk raise only the errors above; what a desk cannot
    do, as its capabilities say, is never asked of it."""

    def capabilities(self) -> DeskCapabilities: ...

    async def check(self) -> str:
        """A sentence on what was reached, for `gaby desk check`."""
        ...

    async def poll(self, cursor: str | None) -> TicketPage:
        """Without a cursor: from now on, unless the desk's configuration says since when."""
        ...

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> VerifiedDelivery:
        """Checks the raw bytes before anything reads them. Names of headers are in small letters. `WebhookRefused`."""
        ...

    async def subscribe(self, callback: str) -> str:
        """Asks the desk to deliver to the address. Says what it did, or what a person has to do there."""
        ...

    def normalize(self, raw: RawTicket) -> IncomingTicket:
        """`TicketUnreadable` when it is no ticket. A message that holds a marker of Gaby's is by `gaby`."""
        ...

    async def post_reply(self, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> str:
        """The id of the reply at the desk. `DeskOutcomeUnknown` when it was sent and nothing was heard."""
        ...

    async def find_reply(self, external_id: str, marker: str, metadata: Mapping[str, Any]) -> str | None:
        """The id of the reply that carries the marker, if the desk has it."""
        ...

    async def update_status(self, external_id: str, verdict: Verdict, metadata: Mapping[str, Any]) -> None:
        """To what the desk calls it. Doing it twice is as good as once."""
        ...

    async def log_time_entry(
        self, external_id: str, minutes: int, note: str, marker: str, metadata: Mapping[str, Any]
    ) -> None:
        """Looks for the marker first, so that doing it twice is as good as once."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True)
class DeskDependencies:
    """What adapters stand on."""

    clock: Clock
    http: httpx2.AsyncClient
    """Shared by all; adapters set their own timeouts and never its state."""
    outside: AddressPolicy
    """Which addresses this desk may be at. `http` keeps to them by itself; other connections are made through it."""
    remember: Callable[[Mapping[str, str]], Awaitable[None]]
    """Stores new values of secret settings, such as a refreshed token, sealed."""


ConfigT = TypeVar("ConfigT", bound=BaseModel)


@dataclass(frozen=True)
class AdapterKind(Generic[ConfigT]):
    """What an adapter's folder exports as `kind`."""

    name: str
    title: str
    config: type[ConfigT]
    """Describes each setting. Those of type `SecretStr` are stored sealed."""
    open: Callable[[ConfigT, DeskDependencies], TicketAdapter]
    hosts: Callable[[ConfigT], Sequence[str]] = lambda _config: ()
    """The hosts that its settings name, in any spelling."""
    vouchers: tuple[Voucher, ...] = ("nobody",)
    """Who can vouch for the requesters of such a desk; the first is believed unless an operator chooses another."""
    voucher_note: str = "This desk tells nothing that could vouch for a requester."
    """What believing them means, for whoever has to choose."""
