"""The built-in desk: tickets by API, by command line, or as files in a watched folder."""

from gaby.tickets.adapters.adapter import AdapterKind
from gaby.tickets.adapters.inbox.config import InboxConfig
from gaby.tickets.adapters.inbox.desk import InboxDesk

kind = AdapterKind(
    "inbox",
    "The built-in desk",
    InboxConfig,
    InboxDesk,
    vouchers=("desk", "nobody"),
    voucher_note="`desk`: whoever adds a ticket may say that the requester is verified, ticket by ticket; "
    "`nobody`: that is not believed.",
)
