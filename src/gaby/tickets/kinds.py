"""The kinds of help desks that Gaby knows, each loaded when it is first needed."""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from gaby.kernel.errors import Invalid
from gaby.kernel.suggestions import unknown_name
from gaby.tickets.adapters.adapter import AdapterKind

KINDS = {
    "email": "A mailbox: IMAP in, SMTP out",
    "github": "GitHub Issues",
    "inbox": "The built-in desk: API, command line, a watched folder",
    "request_tracker": "Request Tracker 5",
    "zoho_desk": "Zoho Desk",
}
_others: dict[str, AdapterKind[Any]] = {}


def kind_of(name: str) -> AdapterKind[Any]:
    if name in _others:
        return _others[name]
    if name not in KINDS:
        raise Invalid(unknown_name("kind of desk", name, KINDS))
    return import_module(f"gaby.tickets.adapters.{name}").kind


@contextmanager
def with_kind(kind: AdapterKind[Any]) -> Generator[None]:
    """A kind that is not shipped with Gaby, known while the body runs."""
    if kind.name in KINDS or kind.name in _others:
        raise Invalid(f"There is a kind of desk {kind.name!r} already.")
    _others[kind.name] = kind
    try:
        yield
    finally:
        del _others[kind.name]
