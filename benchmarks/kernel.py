"""What the spine costs where nothing is wrong: each beside doing without it, in the same run."""

import argparse
import asyncio
import json
import sys
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from sqlalchemy import select

from gaby.identity.models import Group
from gaby.kernel.database import AllWorkspaces, Scope, open_database
from gaby.kernel.failpoints import failpoint
from gaby.kernel.ids import WorkspaceId
from gaby.kernel.tracing import span
from gaby.migrations import upgrade


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--statements", type=int, default=2_000, help="statements in each round")
    options = parser.parse_args()
    bare = _nanoseconds(lambda: None)
    guarded, unguarded = asyncio.run(_statements(options.statements))
    figures = {
        "a failpoint that is not set": (_nanoseconds(lambda: failpoint("x")), bare, "an empty call"),
        "a span while tracing is off": (_nanoseconds(lambda: span("x")), bare, "an empty call"),
        "a statement in one workspace": (guarded, unguarded, "the same across workspaces, unchecked"),
    }
    if options.json:
        print(
            json.dumps(
                {name: {"ns": round(cost), "beside_ns": round(peer)} for name, (cost, peer, _) in figures.items()}
            )
        )
    else:
        for name, (cost, peer, what) in figures.items():
            print(f"{name:30} {cost:10,.0f} ns, {cost / peer:5.2f} x {what} ({peer:,.0f} ns)")
    return 0


def _nanoseconds(work: Callable[[], object]) -> float:
    return min(timeit.repeat(work, number=50_000, repeat=5)) / 50_000 * 1e9


async def _statements(count: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:///{Path(folder) / 'gaby.db'}")
        upgrade(database)
        workspace = WorkspaceId(uuid4())

        async def spent(scope: Scope) -> float:
            async with database.read(scope) as session:
                begin = timeit.default_timer()
                for _ in range(count):
                    await session.execute(select(Group.id).where(Group.workspace_id == workspace))
                return (timeit.default_timer() - begin) / count * 1e9

        guarded, unguarded = [
            min([await spent(scope) for _ in range(3)])
            for scope in (workspace, AllWorkspaces("a benchmark without the guard"))
        ]
        await database.close()
    return guarded, unguarded


if __name__ == "__main__":
    sys.exit(main())
