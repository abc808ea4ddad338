"""What asking a model through a skill costs, beside the vendor's own SDK doing the same; and what the cache saves.

Aims: less than 1 ms of CPU on top of the bare call; importing the command line without any provider under 0.6 s.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import anthropic
import orjson
from tests.llm.scenes import FixedSetups, NoMeaning
from tests.llm.skills import WEIGH, Complaint
from tests.support.models.replies import structured
from tests.support.models.scripted_vendors import KEY, scripted_models

from gaby.identity.workspaces import Workspaces
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import SystemClock
from gaby.kernel.crypto import MasterKeys, Vault
from gaby.kernel.crypto.keyfile import MasterKeyRing
from gaby.kernel.database import Database, open_database
from gaby.kernel.ids import SYSTEM, IdFactory, RunId, WorkspaceId
from gaby.kernel.metrics import Metrics
from gaby.llm.breaker import Breakers
from gaby.llm.fallback import FallbackDependencies
from gaby.llm.messages import ChatMessage, ModelRequest, TokenUsage, ToolSpec
from gaby.llm.prices import listed_price
from gaby.llm.providers.config import ProviderConfig
from gaby.llm.providers.factory import make_provider
from gaby.llm.results import SkillContext
from gaby.llm.runtime import SkillRunner
from gaby.llm.setups import ModelRef, ModelSetup, RoutedModel
from gaby.llm.tiers import Tier
from gaby.migrations import upgrade
from gaby.usage.budget_ledger import StoredBudgetLedger
from gaby.usage.call_traces import CallTraces
from gaby.usage.limits import BudgetLimits, SpendCap

MOST_MS = 1.0
IMPORT_SECONDS = 0.6
MODEL = ModelRef("anthropic", "claude-test")
ANSWER = {"kilos": 3, "why": "it says so"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--calls", type=int, default=300, help="calls of each way, in five rounds")
    options = parser.parse_args()
    with _vendor() as address:
        figures = asyncio.run(_measure(address, options.calls))
    figures |= {"import seconds": _import_seconds()}
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:58} {value:10.3f}")
    return 0 if figures[_OVER] <= MOST_MS and figures["import seconds"] <= IMPORT_SECONDS else 1


_OVER = "on top, CPU ms (aim 1)"


async def _measure(address: str, calls: int) -> dict[str, float]:
    config = ProviderConfig.model_validate({"kind": "anthropic", "base_url": address, "key": KEY})
    provider = make_provider(config)
    bare = await _bare(address, calls)
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:///{Path(folder) / 'gaby.db'}")
        upgrade(database)
        link = RoutedModel(MODEL, "a", provider, listed_price("anthropic", "claude-sonnet-4-5"))
        async with _runner(database, link, keep_traces=timedelta(0)) as run:
            untraced = await _cpu(run, calls)
        async with _runner(database, link, keep_traces=timedelta(days=30)) as run:
            whole = await _cpu(run, calls)
        await database.close()
    saved = await _turns(address)
    await provider.close()
    return {
        "bare SDK call, CPU ms": bare,
        "skill, CPU ms": whole,
        _OVER: whole - bare,
        "of that for the trace, CPU ms": whole - untraced,
        **saved,
    }


async def _bare(address: str, calls: int) -> float:
    """The vendor's client asked for the same, as its documentation shows."""
    client = anthropic.AsyncAnthropic(base_url=address, api_key=KEY, max_retries=0)
    properties = {"kilos": {"type": "integer"}, "why": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["kilos", "why"], "additionalProperties": False}
    shape: Any = {"format": {"type": "json_schema", "schema": schema}}

    async def ask() -> None:
        answer = await client.messages.create(
            model=MODEL.model,
            max_tokens=200,
            system="You weigh complaints for Lanternfish.",
            messages=[{"role": "user", "content": "How heavy is this? The scale is off by 3 kg."}],
            output_config=shape,
        )
        orjson.loads(getattr(answer.content[0], "text", "{}"))

    spent = await _cpu(ask, calls)
    await client.close()
    return spent


async def _cpu(work: Callable[[], Awaitable[object]], calls: int) -> float:
    """CPU of this process in ms for one, all threads together; the median of several rounds."""
    for _ in range(min(30, calls)):
        await work()
    rounds: list[float] = []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(calls // 5):
            await work()
        rounds.append((time.process_time() - begin) / (calls // 5) * 1000)
    return median(rounds)


@asynccontextmanager
async def _runner(
    database: Database, link: RoutedModel, *, keep_traces: timedelta
) -> AsyncGenerator[Callable[[], Awaitable[object]]]:
    clock = SystemClock()
    ids = IdFactory(clock)
    async with database.write(SYSTEM) as session:
        made = await Workspaces(clock, ids).create(
            session, system_actor("bench"), slug=f"acme-{ids.new().hex}", name="Acme"
        )
    budget_ledger = StoredBudgetLedger(
        database, clock, ids, Metrics(), BudgetLimits(run=SpendCap(), day=SpendCap(10**9, 10**12))
    )
    vault = Vault(MasterKeys(MasterKeyRing.from_keys(os.urandom(32))), clock, ids)
    traces = CallTraces(database, vault, clock, keep_traces)
    dependencies = FallbackDependencies(
        budget_ledger, Breakers(clock), timedelta(seconds=20), os.urandom, traces=traces
    )
    setup = ModelSetup(chains={tier.value: (MODEL,) for tier in Tier}, links={MODEL: link})
    runner = SkillRunner(FixedSetups(setup), dependencies, NoMeaning(), timedelta(seconds=20))
    occasion = SkillContext(WorkspaceId(made.id), RunId(ids.new()))
    try:
        yield lambda: runner.run(WEIGH, Complaint(), occasion)
    finally:
        await traces.stop()
        await budget_ledger.stop()


async def _turns(address: str) -> dict[str, float]:
    """Ten turns of one investigation: what grows is the end, and what stays is read from the cache."""
    provider = make_provider(ProviderConfig.model_validate({"kind": "anthropic", "base_url": address, "key": KEY}))
    tool = ToolSpec("crm.find", "Find a customer. " * 60, {"type": "object", "properties": {}})
    envelope = "\n".join(f"Runbook line {number}: look at the queue, then at the worker." for number in range(120))
    messages: list[ChatMessage] = []
    used = TokenUsage()
    for turn in range(10):
        messages.append(ChatMessage("user", f"Step {turn}: the tool answered with a page of rows. " * 12))
        request = ModelRequest(MODEL.model, "You investigate. " * 80, tuple(messages), 200, envelope, (tool,))
        answer = await provider.chat(request)
        used += answer.usage
        messages.append(ChatMessage("assistant", "Then look at the next system."))
    await provider.close()
    price = listed_price("anthropic", "claude-sonnet-4-5")
    assert price is not None
    plain = TokenUsage(input=used.total - used.output, output=used.output)
    return {
        "10 turns, tokens sent": plain.input,
        "10 turns, share of them read from the cache": used.cache_read / plain.input,
        "10 turns, cost with breakpoints / without": price.nano_usd(used) / price.nano_usd(plain),
    }


def _import_seconds() -> float:
    """The command line, ready to be used, in a fresh process; without what Python itself takes."""
    code = "import time; t = time.perf_counter(); import gaby.cli; print(time.perf_counter() - t)"
    tries = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(each.stdout) for each in tries)


@contextmanager
def _vendor() -> Generator[str]:
    """In a process of its own, so that its work is not counted as ours."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("stop")
        process.join()


def _serve(pipe: "Connection[str, str]") -> None:
    with scripted_models() as server:
        server.respond = lambda _received: structured(ANSWER)
        pipe.send(server.address("anthropic"))
        pipe.recv()


if __name__ == "__main__":
    sys.exit(main())
