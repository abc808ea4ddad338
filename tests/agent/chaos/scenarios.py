"""The places and tickets that are disturbed: a parcel shop of the tests' own, and the sample company."""

import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gaby.app import Gaby
from gaby.app.sample import COMPANY, connect_sample
from gaby.kernel.actors import Actor
from gaby.knowledge.new_source import NewSource
from gaby.safety import AccessRules, Scopes
from gaby.tickets.canonical_ticket import IncomingTicket
from gaby.tools.connectors import NewConnector, PolicyChange
from gaby.tools.launches import STATE_VARIABLE, CommandSpec
from gaby_connectors.sdk.manifest import Autonomy
from tests.agent.scenes import CHARGED_TWICE, LOCKED_OUT

HERE = Path(__file__).parent
_EVERYTHING = Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=("**",)))


@dataclass(frozen=True)
class Scenario:
    name: str
    ticket: IncomingTicket
    place: str
    verdict: str
    """How it ends when nobody disturbs it."""
    write: str
    repeatable: bool = True
    """Whether the change may be made again after a crash without being made twice."""


def _parcel(number: int, who: str, title: str, body: str) -> IncomingTicket:
    return IncomingTicket(
        external_id=f"P-{number}",
        title=title,
        body=body,
        requester_email=f"{who}@papercrane.example",
        requester_verified=True,
    )


NO_LABEL = _parcel(1, "anna", "My parcel has no label", "The parcel stands in your shop because it has no label.")
HELD = _parcel(2, "ben", "My parcel is held back", "The parcel is held back in your shop and does not go out.")
LOST = _parcel(3, "cleo", "My parcel was lost", "The parcel was lost on the way, and I want my money back.")

SCENARIOS = {
    each.name: each
    for each in (
        Scenario("label", NO_LABEL, "shop", "auto_resolved", "shop.print_label", repeatable=False),
        Scenario("held", HELD, "shop", "auto_resolved", "shop.release_parcel"),
        Scenario("lost", LOST, "shop", "auto_resolved", "shop.refund_parcel"),
        Scenario("locked out", LOCKED_OUT, "company", "auto_resolved", "company.unlock_user"),
        Scenario("charged twice", CHARGED_TWICE, "company", "auto_resolved", "company.refund_charge"),
    )
}


def advertising(number: int) -> IncomingTicket:
    """A ticket that nobody looks into."""
    return IncomingTicket(
        external_id=f"A-{number}",
        title="Grow your sales with our marketing newsletter",
        body=f"Limited offer {number}: buy 1000 followers now and win a free cruise. Click here to unsubscribe.",
        requester_email=f"offers{number}@megadeals.example",
    )


async def furnish(gaby: Gaby, actor: Actor, place: str, folder: Path, door: str) -> None:
    """Connect the place's connector, which is forked at the door, and read its handbook."""
    if place == "company":
        await connect_sample(gaby, actor, folder, now=gaby.clock.now())
        await _fork_company(gaby, actor, folder, door)
        return
    environment = {"SHOP_FOLDER": str(folder)}
    await _connect(gaby, actor, "shop", _forked(door, "tests.agent.chaos.shop", environment))
    components = gaby.knowledge.components
    async with gaby.database.write(actor.workspace_id) as session:
        source = await components.sources.add(
            session, actor, NewSource("handbook", "folder", str(HERE / "handbook"), audience="customers")
        )
    await components.syncer.sync(actor, source.id)


def _forked(door: str, module: str, environment: dict[str, str]) -> CommandSpec:
    return CommandSpec(
        command=sys.executable, args=("-I", "-S", str(HERE / "launcher.py"), door, module), env=environment
    )


async def _fork_company(gaby: Gaby, actor: Actor, folder: Path, door: str) -> None:
    """The same program with the same settings, only that it need not be read anew at each start."""
    environment = {
        "SAMPLE_COMPANY_FOLDER": str(folder),
        "SAMPLE_COMPANY_NOW": gaby.clock.now().isoformat(),
        STATE_VARIABLE: str(folder / "state"),
    }
    async with gaby.database.write(actor.workspace_id) as session:
        row = await gaby.tools.connectors.get(session, COMPANY)
        row.launch = _forked(door, "gaby_connectors.sample_company", environment).model_dump(mode="json")


async def _connect(gaby: Gaby, actor: Actor, name: str, way: CommandSpec) -> None:
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tools.connectors.add(session, actor, NewConnector(name, "command", way))
    shown = await gaby.tools.inspect(actor, name)
    async with gaby.database.write(actor.workspace_id) as session:
        await gaby.tools.connectors.accept(session, actor, name, shown.fingerprint)
        await gaby.tools.connectors.limit(session, actor, name, PolicyChange(Autonomy.ACT, _EVERYTHING))


def effects_of(place: str, folder: Path) -> list[Any]:
    """What was changed outside of Gaby, in order."""
    if place == "shop":
        file = folder / "effects"
        return [line.rsplit(" ", 1)[0] for line in file.read_text().splitlines()] if file.exists() else []
    return _company_effects(folder / "lanternfish.db")


def _company_effects(file: Path) -> list[Any]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        made = [tool for (tool,) in db.execute("SELECT tool FROM effects ORDER BY at, key")]
        locked = db.execute("SELECT id FROM users WHERE locked_at IS NOT NULL ORDER BY id").fetchall()
        refunded = db.execute("SELECT charge_id, amount_cents FROM refunds ORDER BY id").fetchall()
    return [*made, *(list(row) for row in (*locked, *refunded))]
