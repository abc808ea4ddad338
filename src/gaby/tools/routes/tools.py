"""The tools of a workspace, and what would happen with a call."""

from fastapi import APIRouter

from gaby.kernel.http.access import CanReadConnectors
from gaby.tools.routes.dependencies import ToolService
from gaby.tools.runs import ToolCall
from gaby.tools.schemas import ExplainIn, ToolOut, VerdictOut

router = APIRouter(prefix="/api/tools", tags=["Tools"])


@router.get("")
async def list_tools(actor: CanReadConnectors, service: ToolService) -> list[ToolOut]:
    snapshot = await service.catalogue.snapshot(actor.workspace_id)
    return [ToolOut.from_domain(entry) for _, entry in sorted(snapshot.tools.items())]


@router.post("/explain")
async def explain(actor: CanReadConnectors, body: ExplainIn, service: ToolService) -> VerdictOut:
    """The verdict on a call that somebody unknown would make, without acting: its values count as from outside."""
    call = ToolCall(body.tool, body.arguments, service.ids.new(), rehearse=body.rehearse)
    return VerdictOut.from_domain(await service.invoker.explain(call, service.run(actor)))
