"""A process that dies in the middle of a call leaves a trace that is found and counted."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from gaby.app import build
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import AllWorkspaces
from gaby.kernel.ids import SYSTEM
from gaby.settings import load
from gaby.usage.models import LlmCall, UsageCounter
from tests.support.models.scripted_vendors import KEY, ScriptedModels

pytestmark = pytest.mark.promise("G6", "G7")

_ALL = AllWorkspaces("a test looks at the ledger")


@pytest.mark.parametrize(
    ("point", "charged"), [("llm.before_call", 0), ("llm.after_call", 1), ("books.after_commit", 0)]
)
async def test_no_call_is_lost_from_the_ledger(
    database_url: str, tmp_path: Path, vendors: ScriptedModels, point: str, charged: int
) -> None:
    environment = {
        "GABY_DATABASE_URL": database_url,
        "GABY_HOME": str(tmp_path / "home"),
        "GABY_MODELS_OPENAI_URL": vendors.address("compatible"),
        "GABY_MODELS_OPENAI_KEY": KEY,
        "GABY_MODELS_SMALL": "openai/local-test",
    }
    clock = ManualClock(datetime.now(UTC) + timedelta(hours=1))
    async with (built := build(load(environment, env_file=None).settings, clock=clock)).running(background=False):
        async with built.database.write(SYSTEM) as session:
            await built.identity.workspaces.create(session, system_actor("test"), slug="acme", name="Acme")
        command = [sys.executable, "-m", "gaby", "skill", "run", "triage"]
        variables = {**os.environ, **environment, "GABY_FAILPOINTS": f"{point}=kill"}
        ended = subprocess.run(command, env=variables, cwd=tmp_path, check=False, capture_output=True)  # noqa: ASYNC221
        assert ended.returncode == -9
        assert len(vendors.billed) == charged
        assert await built.usage.budget_ledger.sweep() == 1
        async with built.database.read(_ALL) as session:
            [call] = (await session.scalars(select(LlmCall))).all()
            counts = (await session.scalars(select(UsageCounter))).all()
    assert (call.state, call.cost_nano_usd) == ("lost", None)
    assert call.counted_tokens == call.held_tokens > sum(bill.input + bill.output for bill in vendors.billed)
    assert {(count.used_tokens, count.held_tokens) for count in counts} == {(call.held_tokens, 0)}
