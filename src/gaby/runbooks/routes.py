"""Runbooks over HTTP: what is there, what is understood of a page, and a draft from one."""

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Request

from gaby.kernel.http.access import CanReadKnowledge
from gaby.runbooks.schemas import ListedRunbookOut, RunbookDraftOut, RunbookIn, RunbookOut

if TYPE_CHECKING:
    from gaby.runbooks.service import Runbooks

router = APIRouter(prefix="/api/runbooks", tags=["Runbooks"])


async def _runbooks(request: Request) -> "Runbooks":
    from gaby.runbooks.service import Runbooks

    dependencies = request.app.state.dependencies
    return Runbooks(
        dependencies.database, dependencies.clock, dependencies.tools, dependencies.models, dependencies.knowledge
    )


if TYPE_CHECKING:
    Service = Annotated[Runbooks, Depends(_runbooks)]
else:
    # The service is heavy, and is loaded when it is first asked for.
    Service = Annotated[Any, Depends(_runbooks)]


@router.get("")
async def list_runbooks(actor: CanReadKnowledge, service: Service) -> list[ListedRunbookOut]:
    """The pages that are followed as runbooks, and those that declare themselves and have errors."""
    return await service.list(actor.workspace_id)


@router.post("/check")
async def check_runbook(actor: CanReadKnowledge, body: RunbookIn, service: Service) -> RunbookOut:
    """What is understood of a page and what not, against the tools that are connected."""
    (checked,) = await service.check(actor.workspace_id, [(body.name, body.text)])
    return checked


@router.post("/draft")
async def draft_runbook(actor: CanReadKnowledge, body: RunbookIn, service: Service) -> RunbookDraftOut:
    """A runbook proposed from a page of prose, with TODO lines for a person to work out."""
    return await service.draft(actor.workspace_id, body.text)
