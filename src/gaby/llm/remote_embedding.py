"""Embeddings from a vendor: budget before, books after, as for every other call."""

import time
from collections.abc import Sequence

from gaby.kernel.errors import NotFound
from gaby.kernel.ids import Ids, RunId, WorkspaceId
from gaby.llm.accounts import EMBEDDINGS
from gaby.llm.books import Books, Settled, Wanted
from gaby.llm.errors import ModelError
from gaby.llm.messages import Usage
from gaby.llm.setups import Link, Setups, parse_ref
from gaby.llm.tiers import Tier
from gaby.llm.tokens import estimate


class RemoteEmbedding:
    def __init__(self, setups: Setups, books: Books, ids: Ids, *, patience: float) -> None:
        self._setups = setups
        self._books = books
        self._ids = ids
        self._patience = patience

    async def __call__(self, workspace_id: WorkspaceId, model: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        link = (await self._setups.of(workspace_id)).links.get(parse_ref(model))
        if link is None:
            raise NotFound(f"There is no model account for {model}. Add one with `gaby model add`.")
        hold = await self._books.hold(self._wanted(workspace_id, link, texts))
        begin = time.perf_counter()
        settled = Settled("unknown", nano_usd=None, error="cancelled")
        try:
            found = await link.provider.embed(texts, model=link.ref.model, timeout=self._patience)
            settled = Settled("done", found.usage, _cost(link, found.usage), link.ref.model)
        except ModelError as error:
            unsure = error.usage is None and error.may_be_billed
            usage = error.usage or Usage()
            settled = Settled("unknown" if unsure else "failed", usage, _cost(link, usage), error=error.code)
            raise
        finally:
            await self._books.settle(hold, _timed(settled, begin))
        return found.rows

    def _wanted(self, workspace_id: WorkspaceId, link: Link, texts: Sequence[str]) -> Wanted:
        tokens = sum(estimate(text) for text in texts)
        most = None if link.price is None else link.price.most(tokens, 0)
        # Each batch is a run of its own: indexing is bound by the day's and the month's budget, not by a ticket's.
        return Wanted(
            workspace_id=workspace_id,
            run_id=RunId(self._ids.new()),
            skill=EMBEDDINGS,
            tier=Tier.SMALL,
            provider=link.ref.provider,
            model=link.ref.model,
            input_tokens=tokens,
            output_tokens=0,
            nano_usd=most,
        )


def _cost(link: Link, usage: Usage) -> int | None:
    return None if link.price is None else link.price.nano_usd(usage)


def _timed(settled: Settled, begin: float) -> Settled:
    milliseconds = round((time.perf_counter() - begin) * 1000)
    return Settled(settled.state, settled.usage, settled.nano_usd, settled.answered_by, settled.error, milliseconds)
