"""The persona: how Gaby investigates in a workspace, and whom it turns to."""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gaby.agent.models import AgentConfig
from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.database import ReadSession, WriteSession
from gaby.kernel.errors import Invalid
from gaby.kernel.events import Event


class EnvelopeLimits(BaseModel):
    """How much of each kind the planner is shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    passages: Annotated[int, Field(ge=0, le=40, description="Passages of the knowledge.")] = 6
    facts: Annotated[int, Field(ge=0, le=20, description="Remembered facts.")] = 10
    similar: Annotated[int, Field(ge=0, le=10, description="Similar tickets of the last 24 hours.")] = 3
    results: Annotated[int, Field(ge=1, le=50, description="Latest results of connectors, in full.")] = 12
    result_characters: Annotated[int, Field(ge=200, le=100_000, description="Of one result.")] = 12_000


class Persona(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    iterations: Annotated[int, Field(ge=1, le=100, description="Rounds of planning before it gives up.")] = 20
    seconds: Annotated[
        int, Field(ge=10, le=86_400, description="Seconds of work before it gives up; waiting for people is free.")
    ] = 900
    wait_seconds: Annotated[
        int, Field(ge=0, le=86_400, description="Seconds that it waits in all for limits that pass, such as rates.")
    ] = 7200
    outage_seconds: Annotated[
        int, Field(ge=0, le=86_400, description="Of these, seconds that it waits for connectors that cannot be used.")
    ] = 600
    triage: Annotated[bool, Field(description="Put aside tickets that need no investigation.")] = True
    time_entries: Annotated[bool, Field(description="Log the time spent, where the desk can.")] = True
    bounds: EnvelopeLimits = EnvelopeLimits()

    @property
    def longest(self) -> timedelta:
        return timedelta(seconds=self.seconds)


class Personas:
    def __init__(self, clock: Clock, usual: Persona) -> None:
        self._clock = clock
        self.usual = usual

    async def load(self, session: ReadSession) -> Persona:
        row = await session.get(AgentConfig, session.workspace_id)
        return self.usual if row is None else _merged(self.usual, row.config)

    async def change(self, session: WriteSession, actor: Actor, changes: dict[str, Any]) -> Persona:
        """What is left out stays as it is; None goes back to the installation's."""
        row = await session.get(AgentConfig, session.workspace_id)
        if row is None:
            row = AgentConfig(workspace_id=session.workspace_id, config={}, changed_at=self._clock.now())
            session.add(row)
        row.config = _changed(row.config, changes)
        row.changed_at = self._clock.now()
        persona = _merged(self.usual, row.config)
        session.emit(Event("agent.configured", session.workspace_id, actor, {"config": row.config}))
        return persona


def _changed(config: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    bounds = changes.get("bounds")
    if bounds is not None:
        changes = {**changes, "bounds": _changed(config.get("bounds", {}), bounds)}
    return {name: value for name, value in {**config, **changes}.items() if value is not None}


def _merged(usual: Persona, config: dict[str, Any]) -> Persona:
    bounds = {**usual.bounds.model_dump(), **config.get("bounds", {})}
    try:
        return Persona.model_validate({**usual.model_dump(), **config, "bounds": bounds})
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5])
        raise Invalid(f"Gaby cannot investigate like that: {wrong}") from None
