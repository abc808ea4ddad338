"""What comes between adding a desk and its first poll is a ticket like any other."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel

from gaby.app import Gaby
from gaby.kernel.clock import ManualClock
from gaby.tickets.adapters.adapter import AdapterKind, DeskDependencies
from gaby.tickets.desk_queries import NewDesk
from gaby.tickets.kinds import with_kind
from tests.agent.scenes import open_office
from tests.tickets.scripted import ScriptedDesk

pytestmark = [pytest.mark.promise("T2", "Q1"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]
CHOSEN = datetime.fromisoformat("2020-01-01T00:00:00+00:00")


class Since(BaseModel):
    since: datetime | None = None


@pytest.mark.parametrize("chosen", [None, CHOSEN], ids=["from now on", "since a chosen time"])
async def test_a_desk_is_read_from_the_time_at_which_it_was_added(
    gaby: Gaby, tmp_path: Path, clock: ManualClock, chosen: datetime | None
) -> None:
    office = await open_office(gaby, tmp_path, sample=False)
    asked_since: list[datetime | None] = []

    def opened(config: Since, _dependencies: DeskDependencies) -> ScriptedDesk:
        asked_since.append(config.since)
        return ScriptedDesk()

    with with_kind(AdapterKind("dated", "A desk that knows times", Since, opened, vouchers=("nobody",))):
        async with gaby.database.write(office.workspace_id) as session:
            values = {} if chosen is None else {"since": chosen.isoformat()}
            desk = await gaby.tickets.desks.add(session, office.actor, NewDesk("dated", "dated", values))
            added_at = desk.created_at
        clock.advance(timedelta(minutes=30))
        await gaby.tickets.receiver.poll_due()
    [since] = asked_since
    assert since is not None
    assert since == chosen or added_at - timedelta(minutes=2) < since <= added_at
