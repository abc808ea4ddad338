"""What each workspace depends on, checked for `gaby doctor`: its connectors, desks, escalations, models, knowledge."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from sqlalchemy import select

from gaby.app.services import Services
from gaby.kernel.actors import system_actor
from gaby.kernel.checks import Check
from gaby.kernel.errors import GabyError
from gaby.kernel.ids import SYSTEM, WorkspaceId
from gaby.knowledge.models import KnowledgeSource

_PATIENCE = 10.0
"""Seconds for each system that is talked to."""


@dataclass(frozen=True)
class CheckedWorkspace:
    services: Services
    id: WorkspaceId
    slug: str
    alone: bool

    def check(self, area: str, well: str, troubles: Sequence[str], fix: str) -> Check:
        """One line for each area. With several workspaces it says whose, also in the command that mends it."""
        whose = "" if self.alone else f"{self.slug}: "
        option = "" if self.alone else f" --workspace {self.slug}"
        if not troubles:
            return Check(area, "ok", f"{whose}{well}")
        return Check(area, "warn", f"{whose}{'; '.join(troubles)}", fix.replace("{option}", option))


async def check_workspaces(services: Services) -> list[Check]:
    async with services.database.read(SYSTEM) as session:
        rows = await services.workspaces.all(session)
    checks: list[Check] = []
    for row in rows:
        workspace = CheckedWorkspace(services, WorkspaceId(row.id), row.slug, alone=len(rows) == 1)
        for area, look in _AREAS.items():
            try:
                checks.append(await look(workspace))
            except GabyError as error:
                checks.append(workspace.check(area, "", [error.message], "Look at the log."))
    return checks


async def _connectors(workspace: CheckedWorkspace) -> Check:
    """Each that was accepted is started, since what is stored says nothing of whether it still can be."""
    actor = system_actor("doctor", workspace.id)
    async with workspace.services.database.read(workspace.id) as session:
        rows = await workspace.services.tools.connectors.list(session)
    troubles: list[str] = []
    for row in rows:
        if row.accepted is None:
            troubles.append(f"the tools of {row.name} were never accepted")
        elif row.seen is not None:
            troubles.append(f"the tools of {row.name} have changed since they were accepted")
        elif (problem := await _problem(workspace.services.tools.inspect(actor, row.name))) is not None:
            troubles.append(f"{row.name}: {problem}")
        if row.auth_expired_at is not None:
            troubles.append(f"the sign-in of {row.name} has expired")
    well = f"{len(rows)} accepted" if rows else "none yet"
    names = {row.name for row in rows if any(row.name in trouble for trouble in troubles)}
    name = names.pop() if len(names) == 1 else "NAME"
    fix = (
        f"`gaby connector test {name}{{option}}` says more; `gaby connector accept {name}{{option}}` or "
        f"`gaby connector sign-in {name}{{option}}`."
    )
    return workspace.check("connectors", well, troubles, fix)


async def _desks(workspace: CheckedWorkspace) -> Check:
    """Each is talked to, since what is stored says only how its last poll went."""
    desks = workspace.services.tickets.desks
    async with workspace.services.database.read(workspace.id) as session:
        rows = await desks.list(session)
        adapters = [(row.name, await desks.adapter(session, row)) for row in rows]
    troubles = [
        f"{name}: {problem}" for name, adapter in adapters if (problem := await _problem(adapter.check())) is not None
    ]
    well = f"{len(rows)} answer" if rows else "only the built-in one"
    return workspace.check("desks", well, troubles, "`gaby desk set NAME -s SETTING=VALUE{option}` corrects it.")


async def _escalations(workspace: CheckedWorkspace) -> Check:
    async with workspace.services.database.read(workspace.id) as session:
        target = await workspace.services.escalations.target(session)
    if target is None:
        return workspace.check("escalations", "go to nobody; `gaby agent escalate TARGET` names somebody", [], "")
    host = target.smtp.host if target.smtp is not None else urlsplit(target.address.get_secret_value().strip()).hostname
    problem = await _problem(asyncio.get_running_loop().getaddrinfo(host, None))
    troubles = [] if problem is None else [f"the host of the {target.kind} target is not found"]
    return workspace.check("escalations", f"go to {target.kind}", troubles, "`gaby agent escalate TARGET{option}`.")


async def _models(workspace: CheckedWorkspace) -> Check:
    states = await workspace.services.models.states(workspace.id)
    troubles = [f"{each.ref} has no account" for each in states if not each.usable]
    troubles += [f"{each.ref} rests for {each.rests_for:.0f} s after failures" for each in states if each.rests_for > 0]
    asked = [str(each.ref) for each in states if set(each.used_for) != {"embeddings"}]
    well = ", ".join(asked) or "none; Gaby works by its rules alone"
    return workspace.check("models", well, troubles, "`gaby model test{option}` asks each of them.")


async def _knowledge(workspace: CheckedWorkspace) -> Check:
    async with workspace.services.database.read(workspace.id) as session:
        mine = KnowledgeSource.workspace_id == workspace.id
        sources = (await session.scalars(select(KnowledgeSource).where(mine).order_by(KnowledgeSource.name))).all()
    troubles = [f"{each.name}: {each.error}" for each in sources if each.state == "failed"]
    troubles += [f"{each.name} was never synced" for each in sources if each.state == "new"]
    well = f"{len(sources)} sources are synced" if sources else "no sources yet"
    return workspace.check("knowledge", well, troubles, "`gaby knowledge sync NAME{option}`.")


_AREAS: dict[str, Callable[[CheckedWorkspace], Awaitable[Check]]] = {
    "connectors": _connectors,
    "desks": _desks,
    "escalations": _escalations,
    "models": _models,
    "knowledge": _knowledge,
}


async def _problem(work: Awaitable[object]) -> str | None:
    try:
        async with asyncio.timeout(_PATIENCE):
            await work
    except TimeoutError:
        return "it does not answer"
    except GabyError as error:
        return error.message
    except OSError as error:
        return error.strerror or str(error)
    return None
