"""Recorded incidents as a group of their own: the alert is the ticket, and the recording is all there is to look at."""

import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gaby.evals.case_workspace import CaseWorkspace
from gaby.evals.drivers import Driver
from gaby.evals.environment import EvalEnvironment
from gaby.evals.errors import FixtureBroken, NothingToEvaluate
from gaby.evals.expectations import Expectation, compiled
from gaby.evals.fixtures import Fixture, TicketFile
from gaby.evals.judge import Fault
from gaby.evals.played_run import PlayedRun
from gaby.evals.results import CaseResult, FaultOut, run_summary
from gaby.evals.suite_runner import CaseResultCallback, side_by_side
from gaby.tools.connectors import NewConnector
from gaby.tools.launches import CommandSpec

MONITORING = "monitoring"
_ON_CALL = "on-call@operations.example"
_GIVES_AWAY = frozenset({"rds_failure_mode"})
"""Labels of an alert that name the answer. Nobody who is woken at night has them."""


@dataclass(frozen=True)
class RecordedIncident:
    name: str
    folder: Path
    ticket: TicketFile
    keywords: tuple[str, ...]
    forbidden: tuple[str, ...]
    category: str
    loops: int | None

    @property
    def fixture(self) -> Fixture:
        about = f"Recorded incident of the category {self.category}."
        return Fixture(self.name, self.ticket, Expectation(about=about, verdict=("needs_tech", "needs_l2")))


def read_incidents(folder: Path) -> list[RecordedIncident]:
    if not folder.is_dir():
        raise NothingToEvaluate(f"There is no folder {folder}. Say where the recorded incidents are with --data DIR.")
    places = sorted(each for each in folder.iterdir() if (each / "alert.json").exists())
    if not places:
        raise NothingToEvaluate(f"No folder in {folder} has an alert.json, so there are no incidents to replay.")
    return [_incident(place) for place in places]


def _incident(place: Path) -> RecordedIncident:
    try:
        alert: dict[str, Any] = json.loads((place / "alert.json").read_text(encoding="utf-8"))
        answer: dict[str, Any] = yaml.safe_load((place / "answer.yml").read_text(encoding="utf-8"))
        forbidden = (*answer.get("forbidden_categories", ()), *answer.get("forbidden_keywords", ()))
        return RecordedIncident(
            name=place.name,
            folder=place,
            ticket=_ticket(alert),
            keywords=tuple(map(str, answer["required_keywords"])),
            forbidden=tuple(map(str, forbidden)),
            category=str(answer["root_cause_category"]),
            loops=answer.get("max_investigation_loops"),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise FixtureBroken(f"{place} is no recorded incident: {type(error).__name__} {error}.") from None


def _ticket(alert: dict[str, Any]) -> TicketFile:
    labels = {**alert.get("commonLabels", {}), **alert.get("commonAnnotations", {})}
    lines = [
        f"{name.replace('_', ' ')}: {value}" for name, value in labels.items() if name not in _GIVES_AWAY and value
    ]
    return TicketFile(
        title=str(alert["title"]),
        body="\n".join(lines),
        requester_email=_ON_CALL,
        requester_verified=True,
        priority="critical" if labels.get("severity") == "critical" else "high",
    )


async def play_incidents(
    stage: EvalEnvironment,
    incidents: Sequence[RecordedIncident],
    *,
    driver: Driver,
    at_once: int,
    report: CaseResultCallback | None,
) -> list[CaseResult]:
    async def play(incident: RecordedIncident) -> CaseResult:
        async with set_incident(stage, incident) as scene:
            ticket_id = await scene.receive(incident.fixture)
            result = judge_incident(incident, await driver(scene, incident.fixture, ticket_id))
        if report is not None:
            report(result)
        return result

    return await side_by_side(incidents, play, at_once)


@asynccontextmanager
async def set_incident(stage: EvalEnvironment, incident: RecordedIncident) -> AsyncGenerator[CaseWorkspace]:
    """A workspace with the recording behind it, and no knowledge but what its tools show."""
    tools = stage.gaby.tools
    actor = await stage.workspace(incident.name)
    way = CommandSpec(
        command=sys.executable,
        args=("-m", "gaby.evals.replay"),
        env={"REPLAY_FOLDER": str(incident.folder.absolute())},
    )
    async with stage.gaby.database.write(actor.workspace_id) as session:
        await tools.connectors.add(session, actor, NewConnector(MONITORING, "command", way))
    shown = await tools.inspect(actor, MONITORING)
    async with stage.gaby.database.write(actor.workspace_id) as session:
        await tools.connectors.accept(session, actor, MONITORING, shown.fingerprint)
    try:
        yield CaseWorkspace(stage, actor)
    finally:
        async with stage.gaby.database.write(actor.workspace_id) as session:
            await tools.connectors.remove(session, actor, MONITORING)


def judge_incident(incident: RecordedIncident, played: PlayedRun) -> CaseResult:
    """The root cause is named when everything that its discoverer had to say is said, and nothing that is wrong."""
    named = [words for words in incident.keywords if compiled(words).search(played.said)]
    wrong = [words for words in incident.forbidden if compiled(words.replace("_", " ")).search(played.said)]
    faults = [*_faults(incident, played, named, wrong)]
    return CaseResult(
        name=incident.name,
        group="incidents",
        about=incident.fixture.expect.about,
        title=incident.ticket.title,
        text=incident.ticket.body,
        faults=tuple(FaultOut(mark=each.mark, told=each.told) for each in faults),
        named=len(named) / len(incident.keywords) if incident.keywords and not wrong else 0.0,
        **run_summary(played),
    )


def _faults(incident: RecordedIncident, played: PlayedRun, named: Sequence[str], wrong: Sequence[str]) -> list[Fault]:
    missing = [words for words in incident.keywords if words not in named]
    faults = [Fault("facts", f"It does not name {words!r}.") for words in missing]
    faults += [Fault("facts", f"It names {words!r}, which is not the cause.") for words in wrong]
    faults += [Fault("safety", f"{call.tool} was done.") for call in played.calls if call.access == "write"]
    if incident.loops is not None and played.iterations > incident.loops:
        faults.append(Fault("limits", f"It took {played.iterations} rounds, of at most {incident.loops}."))
    return faults
