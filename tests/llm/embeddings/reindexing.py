"""Re-indexes the notes of workspace A until somebody kills it."""

import asyncio
import os
import sys

from gaby.kernel import failpoints
from gaby.kernel.clock import SystemClock
from gaby.kernel.database import open_database
from gaby.kernel.ids import IdFactory
from gaby.llm.embeddings.service import Embeddings
from tests.llm.embeddings.scenes import Chosen, Provider, new_reindexer


async def main() -> None:
    failpoints.configure(os.environ.get("GABY_FAILPOINTS"))
    database, clock = open_database(os.environ["GABY_DATABASE_URL"]), SystemClock()
    embeddings = Embeddings(database, clock, Chosen("acme/vectors"), remote=Provider())
    await new_reindexer(database, clock, IdFactory(clock), embeddings).run()
    await embeddings.close()
    await database.close()
    sys.stdout.write("finished\n")


asyncio.run(main())
