"""A desk outside of Gaby, whose replies are lines of a file. Unlike the built-in one it takes the same reply twice.

It `finds` replies by their marker, or it is `blind` and can tell nobody what has arrived.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gaby.tickets.adapters.adapter import DeskCapabilities, DeskReply
from gaby.tickets.adapters.inbox.desk import InboxDesk


def open_outside_desk(kind: str, folder: Path) -> None:
    """In this process the built-in desk behaves like one outside."""
    able = DeskCapabilities(private_replies=True, idempotent_replies=False, finds_replies=kind == "finds")

    def capabilities(_: InboxDesk) -> DeskCapabilities:
        return able

    async def post_reply(_: InboxDesk, external_id: str, reply: DeskReply, metadata: Mapping[str, Any]) -> str:
        with _file(folder).open("a") as file:
            file.write(f"{external_id} {reply.marker}\n")
        return f"reply-{len(replies_on(folder))}"

    async def find_reply(_: InboxDesk, external_id: str, marker: str, metadata: Mapping[str, Any]) -> str | None:
        line = f"{external_id} {marker}"
        return "reply-found" if able.finds_replies and line in replies_on(folder) else None

    for name, function in (("capabilities", capabilities), ("post_reply", post_reply), ("find_reply", find_reply)):
        setattr(InboxDesk, name, function)


def replies_on(folder: Path) -> list[str]:
    return _file(folder).read_text().splitlines() if _file(folder).exists() else []


def _file(folder: Path) -> Path:
    return folder / "desk"
