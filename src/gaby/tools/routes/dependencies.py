"""The service that every route here uses."""

from typing import Annotated

from fastapi import Depends, Request

from gaby.tools.service import Tools


async def _tools(request: Request) -> Tools:
    return request.app.state.tools


ToolService = Annotated[Tools, Depends(_tools)]
