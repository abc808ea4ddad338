"""Is it alive, is it ready, and what does it count."""

import asyncio
import hmac
from ipaddress import ip_address
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from gaby.api.dependencies import ApiDependencies, dependencies_of
from gaby.kernel.errors import Forbidden
from gaby.kernel.http.access import CanManageInstallation

router = APIRouter(tags=["Health"])

AllDependencies = Annotated[ApiDependencies, Depends(dependencies_of)]


class LivenessOut(BaseModel):
    status: Literal["ok"] = "ok"


class CheckOut(BaseModel):
    name: str
    health: Literal["ok", "warn", "fail"]
    message: str
    fix: str | None


class ReadinessOut(BaseModel):
    status: Literal["ok", "unavailable"]
    failing: list[str]
    warnings: list[str]
    """What needs somebody's attention though requests are served: `schedules` if nobody does them."""


@router.get("/livez")
async def livez() -> LivenessOut:
    """The process runs. It says nothing about the database, so that a lost database does not restart the server."""
    return LivenessOut()


@router.get("/readyz", responses={503: {"model": ReadinessOut, "description": "Something it needs is missing."}})
async def readyz(response: Response, dependencies: AllDependencies) -> ReadinessOut:
    """Whether requests can be served now: database, tables, disk, audit log. Names only; `gaby doctor` tells more."""
    checks = await asyncio.gather(*(check() for check in dependencies.checks))
    failing = [check.name for check in checks if check.health == "fail"]
    if failing:
        response.status_code = 503
        response.headers["Retry-After"] = "5"
    warnings = [check.name for check in checks if check.health == "warn"]
    return ReadinessOut(status="unavailable" if failing else "ok", failing=failing, warnings=warnings)


@router.get("/api/system/checks")
async def system_checks(actor: CanManageInstallation, dependencies: AllDependencies) -> list[CheckOut]:
    """What `gaby doctor` prints."""
    checks = await asyncio.gather(*(check() for check in dependencies.checks))
    return [CheckOut(name=c.name, health=c.health, message=c.message, fix=c.fix) for c in checks]


@router.get("/metrics", include_in_schema=False)
async def metrics(request: Request, dependencies: AllDependencies) -> Response:
    """For Prometheus. They carry workspace ids, so they are for this machine, or for whoever has the token."""
    if not _may_read_metrics(request, dependencies.metrics_token):
        raise Forbidden("Metrics are readable from this machine, or with the token of GABY_TELEMETRY_METRICS_TOKEN.")
    body, content_type = dependencies.metrics.render()
    return Response(body, media_type=content_type)


def _may_read_metrics(request: Request, token: str | None) -> bool:
    if token is not None:
        given = request.headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
    # Behind a proxy every visitor comes from this machine, so a forwarded request does not count as local.
    if request.client is None or "x-forwarded-for" in request.headers or "forwarded" in request.headers:
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False
