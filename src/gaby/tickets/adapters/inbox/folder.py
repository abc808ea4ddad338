"""The watched folder: each file is a ticket. What was taken in is moved aside at the next look, so nothing is lost."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from gaby.tickets.adapters.adapter import DeskRefused, DeskUnavailable, RawTicket, TicketPage
from gaby.tickets.adapters.email import headers, mime

_AT_ONCE = 100
_MOST_BYTES = 6_000_000
_TAKEN = "taken"
_SUFFIXES = {".json", ".eml"}


def read_page(folder: Path, cursor: str | None) -> TicketPage:
    """The cursor names the files of the last page, which are stored by now."""
    try:
        _set_aside(folder, _names(cursor))
        # A link could lead to a file of Gaby's own.
        files = sorted(
            path
            for path in folder.iterdir()
            if path.suffix.lower() in _SUFFIXES and path.is_file() and not path.is_symlink()
        )
    except FileNotFoundError:
        raise DeskRefused(f"There is no folder {folder}. Make it, or connect the desk anew.") from None
    except OSError as error:
        raise DeskUnavailable(f"The folder {folder} cannot be read: {error.strerror}.") from None
    page_files = files[:_AT_ONCE]
    tickets = [ticket for path in page_files if (ticket := _read(path)) is not None]
    return TicketPage(tickets, json.dumps([path.name for path in page_files]), more=len(files) > _AT_ONCE)


def _set_aside(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        path = folder / name
        if path.parent == folder and path.is_file():
            (folder / _TAKEN).mkdir(exist_ok=True)
            path.replace(folder / _TAKEN / name)


def _names(cursor: str | None) -> list[str]:
    return [str(name) for name in json.loads(cursor)] if cursor else []


def _read(path: Path) -> RawTicket | None:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return RawTicket(path.stem, {"unreadable": "The file is larger than 6 MB."})
        data = path.read_bytes()
    except FileNotFoundError:
        return None  # It went away between listing and reading.
    except OSError as error:
        return RawTicket(path.stem, {"unreadable": f"The file cannot be read: {error.strerror}."})
    payload = _mail(data) if path.suffix.lower() == ".eml" else _json(data)
    return RawTicket(str(payload.get("external_id") or path.stem), payload)


def _json(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {"unreadable": "The file is not JSON."}
    return (
        cast("dict[str, Any]", value) if isinstance(value, dict) else {"unreadable": "The file holds no JSON object."}
    )


def _mail(data: bytes) -> dict[str, Any]:
    head = mime.part(data).head
    sender = headers.address(head, "from")
    return {
        "external_id": headers.message_id(head, data),
        "title": headers.words(head, "subject", 500),
        "body": mime.read(mime.part(data)).text(),
        "requester_email": sender,
        "automatic": headers.is_automatic(head, sender),
    }
