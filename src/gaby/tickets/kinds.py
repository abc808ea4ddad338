"""The kinds of help desks that Gaby knows, each loaded when it is first needed."""

from importlib import import_module
from typing import Any

from gaby.kernel.errors import Invalid
from gaby.tickets.adapters.adapter import AdapterKind

KINDS = {
    "email": "A mailbox: IMAP in, SMTP out",
    "github": "GitHub Issues",
    "inbox": "The built-in desk: API, command line, a watched folder",
    "request_tracker": "Request Tracker 5",
    "zoho_desk": "Zoho Desk",
}


def kind_of(name: str) -> AdapterKind[Any]:
    if name not in KINDS:
        raise Invalid(f"There is no kind of desk {name[:60]!r}. There are: {', '.join(KINDS)}.")
    return import_module(f"gaby.tickets.adapters.{name}").kind
