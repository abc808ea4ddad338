"""Embeddings from a vendor: budget held before, cost settled after, as for every other call."""

from collections.abc import Sequence

from gaby.kernel.errors import NotFound
from gaby.kernel.ids import WorkspaceId
from gaby.llm.accounts import EMBEDDINGS
from gaby.llm.budget_ledger import NO_TASK, BudgetLedger, PlannedSpend
from gaby.llm.metered_call import metered
from gaby.llm.setups import ModelSetups, RoutedModel, parse_ref
from gaby.llm.tiers import Tier
from gaby.llm.tokens import estimate


class RemoteEmbedding:
    def __init__(self, setups: ModelSetups, budget_ledger: BudgetLedger, *, patience: float) -> None:
        self._setups = setups
        self._budget_ledger = budget_ledger
        self._patience = patience

    async def __call__(self, workspace_id: WorkspaceId, model: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        link = (await self._setups.for_workspace(workspace_id)).links.get(parse_ref(model))
        if link is None:
            raise NotFound(f"There is no model account for {model}. Add one with `gaby model add`.")
        async with metered(self._budget_ledger, _wanted(workspace_id, link, texts), link.price) as metered_call:
            response = await link.provider.embed(texts, model=link.ref.model, timeout=self._patience)
            metered_call.done(response.usage, link.ref.model)
        return response.rows


def _wanted(workspace_id: WorkspaceId, link: RoutedModel, texts: Sequence[str]) -> PlannedSpend:
    tokens = sum(estimate(text) for text in texts)
    return PlannedSpend(
        workspace_id=workspace_id,
        run_id=NO_TASK,
        skill=EMBEDDINGS,
        tier=Tier.SMALL,
        provider=link.ref.provider,
        model=link.ref.model,
        input_tokens=tokens,
        output_tokens=0,
        nano_usd=None if link.price is None else link.price.most(tokens, 0),
    )
