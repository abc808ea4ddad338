"""LangGraph with its SQLite checkpointer on the ten steps of `benchmarks.loop`. Run by that, in its own environment."""

import asyncio
import json
import operator
import sqlite3
import sys
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph


class Memory(TypedDict):
    ticket: dict[str, str]
    calls: Annotated[list[dict[str, Any]], operator.add]


async def main(folder: Path, runs: int, script: dict[str, Any]) -> None:
    path = folder / "langgraph.db"
    builder = StateGraph(Memory)
    before = START
    for number, call in enumerate(script["calls"]):

        async def step(_state: Memory, call: dict[str, Any] = call) -> dict[str, Any]:
            return {"calls": [call]}

        builder.add_node(f"step{number}", step)
        builder.add_edge(before, f"step{number}")
        before = f"step{number}"
    builder.add_edge(before, END)
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        await saver.setup()
        graph = builder.compile(checkpointer=saver)

        async def run(name: str) -> None:
            config = {"configurable": {"thread_id": name}}
            await graph.ainvoke({"ticket": script["ticket"], "calls": []}, config, durability="sync")

        await run("warm")
        begun = time.process_time()
        for number in range(runs):
            await run(f"run-{number}")
        spent = time.process_time() - begun
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    transitions = runs * len(script["calls"])
    print(json.dumps({"cpu_ms": spent / transitions * 1000, "bytes": path.stat().st_size / transitions}))


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text())))
