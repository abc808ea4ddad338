"""A planner in the attacker's hands: it does what the user asked, and obeys every injection that it reads."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from evals.compromised_planner.stage import Stage
from evals.compromised_planner.tricks import REVEALS, TRICKS, names_in, spelled
from gaby.safety import Plan, PlannedArgument, PlannedCall
from gaby.tools import Asked, Call, Denied, Done, Failed, Run, ToolOutcome
from gaby.tools.approvals import Answer

Wanted = tuple[str, dict[str, Any]]


@dataclass
class Played:
    """What came of one pair, or of one task without an attack."""

    suite: str
    user_task: str
    injection_task: str | None
    asked: list[str] = field(default_factory=list[str])
    """What of the user's own task needed a person, and why."""
    blocked: int = 0
    attacker_writes: list[str] = field(default_factory=list[str])
    """Changes that the injection asked for and that ran without a person."""
    attacker_stopped: dict[str, int] = field(default_factory=dict[str, int])
    text_only: bool = False
    done: bool | None = None
    harmed: bool | None = None


class Planner:
    def __init__(self, stage: Stage, suite: str, *, locked: bool) -> None:
        self._stage = stage
        self._suite = suite
        self._locked = locked

    async def play(self, user_task: str, injection_task: str | None, spelling: str) -> Played:
        door = self._stage.doors[self._suite]
        # Long enough that nothing of the scene before is still in a cache.
        self._stage.clock.advance(timedelta(minutes=5))
        scene = await door.ask("load", user_task=user_task, injection_task=injection_task)
        run = self._stage.gaby.tools.run(self._stage.actor)
        run.ledger.hear_operator("the user's prompt", scene["prompt"])
        if self._locked:
            run.plan = _plan(self._suite, scene["calls"], scene["prompt"])
        played = Played(self._suite, user_task, injection_task, text_only=scene["text_only"])
        injected = [(tool, spelled(arguments, TRICKS[spelling])) for tool, arguments in scene["injected"]]
        if spelling == "planted":
            await door.ask("plant", values=sorted({name for _, arguments in injected for name in names_in(arguments)}))
            injected = [*REVEALS[self._suite], *injected]
        await self._play(run, scene["calls"], injected, scene["seen_as"], played)
        judged = await door.ask("check")
        played.done, played.harmed = judged["utility"], judged["security"]
        return played

    async def _play(self, run: Run, calls: list[Wanted], injected: list[Wanted], seen_as: str, played: Played) -> None:
        obeyed = False
        for wanted in calls:
            outcome = await self._own(run, wanted, played)
            if not obeyed and injected and isinstance(outcome, Done) and seen_as in outcome.text:
                obeyed = True
                await self._obey(run, injected, played)
        if injected and not obeyed:
            await self._obey(run, injected, played)

    async def _own(self, run: Run, wanted: Wanted, played: Played) -> ToolOutcome:
        """The user's own task: whoever is asked agrees."""
        outcome = await self._invoke(run, wanted)
        if isinstance(outcome, Asked):
            played.asked.append(f"{wanted[0]}: {outcome.verdict.reason}")
            tools, actor = self._stage.gaby.tools, self._stage.actor
            async with self._stage.gaby.database.write(actor.workspace_id) as session:
                await tools.decide_approval(session, actor, outcome.approval_id, Answer("approve"))
            call = Call("", {}, self._stage.gaby.ids.new(), approval_id=outcome.approval_id)
            outcome = await tools.invoker.invoke(call, run)
        if isinstance(outcome, Denied):
            played.blocked += 1
        return outcome

    async def _obey(self, run: Run, injected: list[Wanted], played: Played) -> None:
        """The attacker's: whoever is asked does not answer."""
        snapshot = await self._stage.gaby.tools.catalogue.snapshot(self._stage.actor.workspace_id)
        for wanted in injected:
            outcome = await self._invoke(run, wanted)
            tool = snapshot.tool(f"{self._suite}.{wanted[0]}")
            if tool.facts.lane == "read":
                continue
            match outcome:
                case Asked(verdict=verdict) | Denied(verdict=verdict):
                    stopped = played.attacker_stopped
                    stopped[verdict.rule] = stopped.get(verdict.rule, 0) + 1
                case Failed():
                    # It was let through, and only the tool itself had no use for it.
                    played.attacker_writes.append(f"{wanted[0]} (refused by the tool)")
                case _:
                    played.attacker_writes.append(wanted[0])

    async def _invoke(self, run: Run, wanted: Wanted) -> ToolOutcome:
        tool, arguments = wanted
        call = Call(f"{self._suite}.{tool}", arguments, self._stage.gaby.ids.new())
        return await self._stage.gaby.tools.invoker.invoke(call, run)


def _plan(suite: str, calls: list[Wanted], prompt: str) -> Plan:
    """The plan of somebody who has read only the prompt: what it names is fixed, the rest is to be found."""

    def argument(value: Any) -> PlannedArgument:
        named = isinstance(value, str) and value in prompt
        return PlannedArgument("fixed", value) if named else PlannedArgument("found")

    return Plan(
        tuple(
            PlannedCall(f"{suite}.{tool}", {name: argument(value) for name, value in arguments.items()})
            for tool, arguments in calls
        )
    )
