"""The table itself refuses a run that nobody would ever take up again."""

from pathlib import Path

import pytest
from sqlalchemy import update

from gaby.agent.models import Investigation
from gaby.app import Gaby
from gaby.kernel.errors import GabyError
from gaby.kernel.ids import WorkspaceId
from tests.agent.scenes import LOCKED_OUT, open_office

pytestmark = pytest.mark.promise("Q6")

OPEN = (
    "created",
    "planning",
    "retrieving",
    "safety_check",
    "waiting_approval",
    "acting",
    "observing",
    "verdict",
    "writing_back",
)


async def test_what_has_not_ended_has_a_time_at_which_it_is_taken_up(gaby: Gaby, tmp_path: Path) -> None:
    office = await open_office(gaby, tmp_path, sample=False)
    run = await office.run_of(await office.receive(LOCKED_OUT))
    for state in OPEN:
        assert await _refused(gaby, run, state, wakes=False), f"{state} without a time was stored"
        assert not await _refused(gaby, run, state, wakes=True)
    for state in ("done", "halted"):
        assert await _refused(gaby, run, state, wakes=True), f"{state} with a time was stored"
    assert await _refused(gaby, run, "asleep", wakes=True), "a state that nobody knows was stored"


async def _refused(gaby: Gaby, run: Investigation, state: str, *, wakes: bool) -> bool:
    place = WorkspaceId(run.workspace_id)
    mine = (Investigation.workspace_id == place, Investigation.id == run.id)
    at = gaby.clock.now() if wakes else None
    try:
        async with gaby.database.write(place) as session:
            await session.execute(update(Investigation).where(*mine).values(state=state, wake_at=at))
    except GabyError:
        return True
    return False
