"""Whatever happens at once, and whatever the vendors do: the ledger holds what was charged, and no limit is passed."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gaby.kernel.clock import ManualClock
from gaby.kernel.database import open_database
from gaby.llm.budget_ledger import BudgetSpent
from gaby.llm.messages import TokenUsage
from gaby.usage.limits import BudgetLimits, SpendCap
from tests.llm.scenes import CLAUDE, GPT, Bench, bench
from tests.llm.skills import TELL, WEIGH, Complaint
from tests.support.models.replies import AnyReply, Body, Garbage, Reply, Status, hang, refusal, structured
from tests.support.models.scripted_vendors import ScriptedModels, scripted_models
from tests.support.seeded_random import Dice

pytestmark = pytest.mark.promise("G6", "G7")

NUMBER_OF_WAYS = 12


def reply(way: int) -> AnyReply:
    """One of the ways in which a vendor answers, or does not."""
    ways: list[AnyReply] = [
        structured({"kilos": 3, "why": "it says so, in 3 kg"}),
        Reply("It weighs about 3 kg."),
        Reply('{"kilos": 3, "why'),
        refusal(),
        Status(500),
        Status(429, headers={"Retry-After": "0"}),
        Status(401),
        Body(b"<html>", "text/html"),
        Garbage(),
        Reply("It weighs about 3 kg, or so they say.", cut_after=4, abrupt=True),
        Reply("It weighs about 3 kg, or so they say.", cut_after=6),
        hang(),
    ]
    return ways[way % len(ways)]


@dataclass(frozen=True)
class Script:
    ways: list[int]
    askers: list[tuple[bool, int, int | None]]
    """Whether it streams, which run it belongs to, and after how many turns it is cancelled."""
    run_tokens: int
    day_tokens: int


scripts = st.builds(
    Script,
    ways=st.lists(st.integers(0, NUMBER_OF_WAYS - 1), min_size=1, max_size=12),
    askers=st.lists(
        st.tuples(st.booleans(), st.integers(0, 2), st.none() | st.integers(0, 30)), min_size=1, max_size=8
    ),
    run_tokens=st.integers(0, 4000),
    day_tokens=st.integers(0, 8000),
)


async def play(url: str, script: Script) -> None:
    clock = ManualClock(datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC))
    database = open_database(url)
    limits = BudgetLimits(
        run=SpendCap(tokens=script.run_tokens), day=SpendCap(tokens=script.day_tokens, nano_usd=10**8)
    )
    ways = forever(script.ways)
    try:
        with scripted_models() as vendors:
            vendors.respond = lambda _received: reply(next(ways))
            async with bench(vendors, database, clock, limits=limits, waits=timedelta(seconds=0.15)) as runtime:
                runtime.route(CLAUDE, GPT)
                await asyncio.gather(*(ask(runtime, *asker) for asker in script.askers))
                await check(runtime, vendors, limits)
    finally:
        await database.close()


def forever(ways: list[int]) -> Iterator[int]:
    while True:
        yield from ways


async def ask(runtime: Bench, streams: bool, run: int, cancelled_after: int | None) -> None:
    asking = asyncio.create_task(use(runtime, run, streams=streams))
    if cancelled_after is not None:
        for _ in range(cancelled_after):
            await asyncio.sleep(0)
        asking.cancel()
    with suppress(BudgetSpent, asyncio.CancelledError):
        await asking


async def use(runtime: Bench, run: int, *, streams: bool) -> None:
    if streams:
        async for _ in runtime.runner.stream(TELL, Complaint(), runtime.another(run)):
            pass
    else:
        await runtime.runner.run(WEIGH, Complaint(), runtime.another(run))


async def check(runtime: Bench, vendors: ScriptedModels, limits: BudgetLimits) -> None:
    rows = await runtime.calls()
    recorded, charged = TokenUsage(), TokenUsage()
    for row in rows:
        assert row.state != "held"
        recorded += TokenUsage(row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens)
    unsure = sum(row.state == "unknown" for row in rows)
    for bill in vendors.billed:
        if bill.told:
            charged += TokenUsage(bill.input, bill.output, bill.cache_read, bill.cache_write)
    if not unsure:
        assert recorded == charged
    assert recorded.total <= charged.total
    # As limits count: what is read from a cache weighs a tenth.
    everything = sum(
        TokenUsage(bill.input, bill.output, bill.cache_read, bill.cache_write).counted for bill in vendors.billed
    )
    counted = sum(row.counted_tokens for row in rows)
    assert everything <= counted
    counts = await runtime.desk.counts()
    if "day" in counts:
        day = counts["day"]
        assert (day.held_tokens, day.held_nano_usd) == (0, 0)
        assert day.used_tokens == counted <= (limits.day.tokens or 0)
        assert day.used_nano_usd == sum(row.counted_nano_usd for row in rows) <= (limits.day.nano_usd or 0)
    by_run: dict[object, int] = {}
    for row in rows:
        by_run[row.run_id] = by_run.get(row.run_id, 0) + row.counted_tokens
    assert all(tokens <= (limits.run.tokens or 0) for tokens in by_run.values())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(script=scripts)
@example(script=Script(ways=[0], askers=[(False, 0, None)] * 2, run_tokens=870, day_tokens=870))
def test_the_ledger_holds_what_the_vendors_charged(migrated_file: Path, script: Script) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gaby.db"
        shutil.copyfile(migrated_file, file)
        asyncio.run(play(f"sqlite:///{file}", script))


@pytest.mark.parametrize("seed", range(4))
async def test_the_ledger_holds_on_every_engine(database_url: str, seed: int) -> None:
    dice = Dice(f"books {seed}")
    numbers = [dice(3) for _ in range(12)]
    script = Script(
        ways=[number[0] % NUMBER_OF_WAYS for number in numbers],
        askers=[(number[1] % 2 == 0, number[1] % 3, number[2] if number[2] < 30 else None) for number in numbers],
        run_tokens=3000,
        day_tokens=6000,
    )
    await play(database_url, script)
