"""What models cost, over HTTP."""

from datetime import date, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from gaby.kernel.actors import Permission
from gaby.kernel.errors import Forbidden, NotFound
from gaby.kernel.http.access import (
    CanManageInstallation,
    CanManageModels,
    CanReadUsage,
    CanWorkOnTickets,
    ReadSession,
    WriteSession,
)
from gaby.kernel.ids import ModelCallId, RunId
from gaby.usage.reports import ReportGrouping, calls, report, total
from gaby.usage.schemas import LimitsIn, LimitsOut, ModelCallOut, PlanIn, UsageLineOut, UsageOut
from gaby.usage.service import UsageService
from gaby.usage.trace_schemas import CallTraceOut, RunCallOut

router = APIRouter(prefix="/api/usage", tags=["Usage"])
runs_router = APIRouter(prefix="/api/runs", tags=["Investigations"])
routers = (router, runs_router)

_MONTH = timedelta(days=29)


async def _usage(request: Request) -> UsageService:
    return request.app.state.usage


Service = Annotated[UsageService, Depends(_usage)]


@router.get("")
async def usage(
    actor: CanReadUsage,
    service: Service,
    session: ReadSession,
    by: ReportGrouping = ReportGrouping.DAY,
    since: date | None = None,
    until: date | None = None,
) -> UsageOut:
    """What was spent, by day, model, skill or tier; the last 30 days unless said otherwise."""
    last = until or service.today()
    first = since or max(last, date.min + _MONTH) - _MONTH
    lines = await report(session, first, last, by)
    return UsageOut(
        total=UsageLineOut.from_domain(await total(session, first, last)),
        lines=[UsageLineOut.from_domain(line) for line in lines],
    )


@router.get("/calls")
async def list_calls(
    actor: CanReadUsage,
    session: ReadSession,
    run_id: RunId | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> list[ModelCallOut]:
    """Single calls, the newest first."""
    return [ModelCallOut.from_domain(call) for call in await calls(session, limit=limit, run_id=run_id)]


@router.get("/limits")
async def limits(actor: CanReadUsage, service: Service) -> LimitsOut:
    return LimitsOut.from_domain(await service.budget_ledger.limits(actor.workspace_id))


@router.patch("/limits")
async def change_limits(actor: CanManageModels, body: LimitsIn, service: Service, session: WriteSession) -> LimitsOut:
    await service.budgets.change(session, actor, body.change())
    return LimitsOut.from_domain(await service.budget_ledger.limits_in(session))


@router.put("/plan")
async def set_plan(actor: CanManageInstallation, body: PlanIn, service: Service, session: WriteSession) -> LimitsOut:
    """The plan of this workspace. Only whoever manages the installation sells plans."""
    await service.budgets.set_plan(session, actor, body.plan)
    return LimitsOut.from_domain(await service.budget_ledger.limits_in(session))


@runs_router.get("/{run_id}/calls")
async def list_run_calls(
    actor: CanWorkOnTickets, run_id: RunId, service: Service, session: ReadSession
) -> list[RunCallOut]:
    """Every model call of a run, in order. 404 when it made none."""
    calls = await service.traces.of_run(session, run_id)
    if not calls:
        raise NotFound("No model was asked in this run, or there is no such run.")
    return [RunCallOut.of_run(call) for call in calls]


@runs_router.get("/{run_id}/calls/{call_id}")
async def get_run_call(
    actor: CanWorkOnTickets, run_id: RunId, call_id: ModelCallId, service: Service, session: ReadSession
) -> CallTraceOut:
    """What a model was asked and what it answered. Calls that belong to no ticket are for those who manage models."""
    call = await service.traces.call_of_run(session, run_id, call_id)
    if call.belongs_to_workspace and not actor.may(Permission.MODELS_MANAGE):
        raise Forbidden(f"{Forbidden().message} (It is called {Permission.MODELS_MANAGE.value}.)")
    return CallTraceOut.from_domain(call, await service.traces.content(session, call))
