"""Whether a connector reaches the system behind it."""

import json
from typing import NamedTuple, cast

from gaby.app import Gaby
from gaby.kernel.actors import Actor
from gaby.tools import Done, ToolCall


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
    return ConnectorHealth(well=False, told=str(outcome))


def _is_well(told: object) -> bool:
    """Connectors of others may say it in their own words; only a plain no counts as one."""
    return not (isinstance(told, dict) and cast("dict[str, object]", told).get("ok") is False)
