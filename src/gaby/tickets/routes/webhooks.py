"""Deliveries from help desks. They are not signed in: each is signed, and checked over its raw bytes."""

from fastapi import APIRouter, Request, status

from gaby.kernel.ids import DeskId
from gaby.tickets.desk_schemas import ReceivedOut
from gaby.tickets.routes.dependencies import Service

router = APIRouter(prefix="/api/webhooks", tags=["Webhooks"])


@router.get("/desks/{desk_id}")
async def ready(desk_id: DeskId) -> dict[str, str]:
    """Some desks knock before they deliver. The answer is the same for every id."""
    return {"status": "ready"}


@router.post("/desks/{desk_id}", status_code=status.HTTP_202_ACCEPTED)
async def deliver(desk_id: DeskId, request: Request, service: Service) -> ReceivedOut:
    """401 for what is forged, too old, or was delivered before; nothing is stored then."""
    return ReceivedOut.from_domain(await service.receiver.deliver(desk_id, dict(request.headers), await request.body()))
