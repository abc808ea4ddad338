"""Bugs that somebody could make, planted in the real commands by the shim, to see that the chaos finds them.

Each says which module it changes once that is loaded. Nothing is imported here: every process reads this file.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

_CLAIMS = 2


def _leader_is_for_life(module: Any) -> None:
    """A schedule's lock that whoever died keeps."""
    contend = module.Schedules.contend

    async def contends(self: Any) -> bool:
        self._silence, silence = float("inf"), self._silence
        try:
            return await contend(self)
        finally:
            self._silence = silence
            if self._leads_until == float("inf"):
                self._leads_until = self._clock.monotonic() + silence

    module.Schedules.contend = contends


def _begun_changes_are_forgotten(module: Any) -> None:
    async def nothing(*_: Any) -> str:
        return ""

    module.VerdictStep.begun_changes = nothing


def _killed_runs_are_blamed(module: Any) -> None:
    """After so many claims a run is called broken, whoever was at fault."""
    go_on = module.InvestigationLoop._next

    async def blamed(self: Any, run: Any) -> Any:
        if run.fresh and run.lease.token > _CLAIMS:
            return await self._broken(run, f"It was taken up {run.lease.token} times and never got any further.")
        return await go_on(self, run)

    module.InvestigationLoop._next = blamed


def _log_is_not_asked(module: Any) -> None:
    """Whoever takes a run up does again what it had begun."""

    async def recall(*_: Any) -> dict[Any, Any]:
        return {}

    module.ToolStep._recall = recall


def _lease_never_ends(module: Any) -> None:
    """Nobody takes away what a dead one holds."""

    async def release(_: Any) -> int:
        return 0

    module.RunQueue.release_dead = release


def _reply_is_sent_again(module: Any) -> None:
    """When in doubt, without looking."""

    async def again(self: Any, actor: Any, sending: Any) -> Any:
        return await self._decide(actor, sending)

    module.Poster._after_doubt = again


BUGS: Mapping[str, Mapping[str, Callable[[ModuleType], None]]] = {
    "leader_is_for_life": {"gaby.worker.schedules": _leader_is_for_life},
    "begun_changes_are_forgotten": {"gaby.agent.verdict_step": _begun_changes_are_forgotten},
    "killed_runs_are_blamed": {"gaby.agent.loop": _killed_runs_are_blamed},
    "log_is_not_asked": {"gaby.agent.tool_step": _log_is_not_asked},
    "lease_never_ends": {"gaby.agent.queue": _lease_never_ends},
    "reply_is_sent_again": {"gaby.tickets.postings": _reply_is_sent_again},
}
