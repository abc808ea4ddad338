"""How routes get at the knowledge."""

from typing import Annotated

from fastapi import Depends, Request

from gaby.knowledge.service import Knowledge


async def _knowledge(request: Request) -> Knowledge:
    return request.app.state.knowledge


Service = Annotated[Knowledge, Depends(_knowledge)]
