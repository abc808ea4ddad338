"""Whether a connector reaches the system behind it."""

import json
from typing import NamedTuple, cast

from gaby.app import Gaby
from gaby.kernel.actors import Actor
from gaby.tools import Asked, Denied, Done, Failed, RetryLater, ToolCall, ToolOutcome


class ConnectorHealth(NamedTuple):
    well: bool
    told: str


async def connector_health(gaby: Gaby, actor: Actor, name: str) -> ConnectorHealth | None:
    """What its own healthcheck says; None when it has none that was accepted."""
    snapshot = await gaby.tools.catalogue.snapshot(actor.workspace_id)
    if f"{name}.healthcheck" not in snapshot.tools:
        return None
    call = ToolCall(f"{name}.healthcheck", {}, gaby.ids.new())
    outcome = await gaby.tools.invoker.invoke(call, gaby.tools.run(actor))
    if isinstance(outcome, Done):
        return ConnectorHealth(_is_well(outcome.structured), json.dumps(outcome.structured))
    return ConnectorHealth(well=False, told=_why_not(outcome))


def _why_not(outcome: ToolOutcome) -> str:
    match outcome:
        case Denied(verdict=verdict) | Asked(verdict=verdict):
            return verdict.reason
        case Failed(message=message) | RetryLater(message=message):
            return message
        case _:
            return "nobody can say what came of it"


def _is_well(told: object) -> bool:
    """Connectors of others may say it in their own words; only a plain no counts as one."""
    return not (isinstance(told, dict) and cast("dict[str, object]", told).get("ok") is False)
