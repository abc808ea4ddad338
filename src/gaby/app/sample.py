"""The sample company, connected to a workspace: its back office, its handbook, and nothing invented beside them."""

from collections.abc import Callable
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path

from gaby.app.compose import Gaby
from gaby.kernel.actors import Actor
from gaby.knowledge.new_source import NewSource
from gaby.safety import AccessRules, Scopes
from gaby.tools.connectors import PolicyChange
from gaby.tools.setup import bundled
from gaby_connectors.sdk.manifest import Autonomy

COMPANY = "company"
HANDBOOK = "handbook"
_MAY = Scopes(
    read=AccessRules(allow=("**",)),
    # What a support engineer of the first level may do. Mail and deleting users are not among it.
    write=AccessRules(
        allow=(
            "users/*/unlock",
            "users/*/mfa/reset",
            "groups/**",
            "charges/*/refund",
            "webhooks/*/resend",
            "devices/*/restart_agent",
            "tickets/*/notes/add",
        )
    ),
)


async def connect_sample(
    gaby: Gaby,
    actor: Actor,
    folder: Path,
    *,
    now: datetime | None = None,
    handbook: Path | None = None,
    report: Callable[[str], None] | None = None,
) -> None:
    """Its back office lives in the folder. With `now` time stands still there."""
    say = report or _say_nothing
    say("Connecting the sample company's back office ...")
    settings = {"SAMPLE_COMPANY_FOLDER": str(folder)}
    if now is not None:
        settings["SAMPLE_COMPANY_NOW"] = now.isoformat()
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tools.connectors.add(session, actor, bundled(COMPANY, "sample-company", settings))
    shown = await gaby.tools.inspect(actor, COMPANY)
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tools.connectors.accept(session, actor, COMPANY, shown.fingerprint)
        await gaby.tools.connectors.limit(session, actor, COMPANY, PolicyChange(Autonomy.ACT, _MAY))
    say("Reading the company's handbook ...")
    with as_file(files("gaby_connectors.sample_company") / "handbook") as packaged:
        await _read(gaby, actor, handbook or packaged)


def _say_nothing(_: str) -> None:
    pass


async def _read(gaby: Gaby, actor: Actor, folder: Path) -> None:
    components = gaby.knowledge.components
    async with gaby.database.write(actor.workspace_id) as session:
        source = await components.sources.add(
            session, actor, NewSource(HANDBOOK, "folder", str(folder), audience="customers")
        )
    await components.syncer.sync(actor, source.id)
