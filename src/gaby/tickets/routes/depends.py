"""How routes get at tickets."""

from typing import Annotated

from fastapi import Depends, Request

from gaby.tickets.service import Tickets


async def _tickets(request: Request) -> Tickets:
    return request.app.state.tickets


Service = Annotated[Tickets, Depends(_tickets)]
