"""More places at which a process can be stopped, for moments that have none of their own in Gaby's code."""

from typing import Any

from gaby.kernel.failpoints import failpoint_async
from gaby.tickets.postings import Poster

BEFORE_NOTE = "post.before_note"
"""A reply is about to be noted as being sent."""


def add_places() -> None:
    send = vars(Poster)["_send"]

    async def stopping(self: Poster, actor: Any, sending: Any) -> Any:
        await failpoint_async(BEFORE_NOTE)
        return await send(self, actor, sending)

    name = "_send"
    setattr(Poster, name, stopping)
