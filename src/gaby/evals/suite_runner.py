"""Runs a suite: several cases side by side, and those for which time has to pass one after the other."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from gaby.evals.case_workspace import change_world, set_scene
from gaby.evals.drivers import Driver, gabys_loop
from gaby.evals.environment import EvalEnvironment
from gaby.evals.fixtures import Fixture
from gaby.evals.judge import judge
from gaby.evals.results import CaseResult, SuiteResult

CaseT = TypeVar("CaseT")
CaseResultCallback = Callable[[CaseResult], None]


async def run_suite(
    stage: EvalEnvironment,
    fixtures: Sequence[Fixture],
    *,
    driver: Driver = gabys_loop,
    named: str = "gaby",
    at_once: int = 2,
    report: CaseResultCallback | None = None,
) -> SuiteResult:
    await asyncio.to_thread(_try_worlds, stage, fixtures)
    begin = time.perf_counter()

    async def play(fixture: Fixture) -> CaseResult:
        result = await play_case(stage, fixture, driver)
        if report is not None:
            report(result)
        return result

    quiet = [fixture for fixture in fixtures if not fixture.moves_time]
    results = await side_by_side(quiet, play, at_once)
    results += await side_by_side([fixture for fixture in fixtures if fixture.moves_time], play, 1)
    results.sort(key=lambda result: result.name)
    spent = time.perf_counter() - begin
    return SuiteResult(driver=named, model=await asked_model(stage), seconds=round(spent, 2), cases=tuple(results))


def _try_worlds(stage: EvalEnvironment, fixtures: Sequence[Fixture]) -> None:
    """A world that cannot be made is found out before anything is played."""
    for fixture in fixtures:
        if fixture.world:
            change_world(stage.copy_company(stage.home / "tried"), fixture, stage.clock.now())


async def play_case(stage: EvalEnvironment, fixture: Fixture, driver: Driver) -> CaseResult:
    async with set_scene(stage, fixture) as scene:
        ticket_id = await scene.receive(fixture)
        played = await driver(scene, fixture, ticket_id)
    faults = judge(fixture.expect, played, verified=fixture.ticket.requester_verified)
    return CaseResult.from_run(fixture, played, faults)


async def side_by_side(
    cases: Sequence[CaseT], play: Callable[[CaseT], Awaitable[CaseResult]], at_once: int
) -> list[CaseResult]:
    """The scene of one is set while another is played."""
    limit = asyncio.Semaphore(at_once)

    async def turn(case: CaseT) -> CaseResult:
        async with limit:
            return await play(case)

    turns = [asyncio.create_task(turn(case)) for case in cases]
    try:
        return list(await asyncio.gather(*turns))
    finally:
        # When one breaks, the others must not go on while the stage is taken down.
        for each in turns:
            each.cancel()
        await asyncio.gather(*turns, return_exceptions=True)


async def asked_model(stage: EvalEnvironment) -> str:
    """Who thinks: the first model of the planner's chain, or none."""
    settings = stage.gaby.settings.models
    return settings.big or ("a vendor's usual model" if settings.anthropic_key or settings.openai_key else "offline")
