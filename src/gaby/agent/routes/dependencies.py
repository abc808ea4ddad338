"""How routes get at investigations."""

from typing import Annotated

from fastapi import Depends, Request

from gaby.agent.service import Agent


async def _agent(request: Request) -> Agent:
    return request.app.state.agent


Service = Annotated[Agent, Depends(_agent)]
