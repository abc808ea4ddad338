"""Who judges the pairs: the check of values that works without a model, or the review that a model answers."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from evals.entailment.pairs import Pair
from evals.recorded.seat import Seat
from gaby.evals.environment import START, FrozenClock, open_stage
from gaby.mind import support
from gaby.settings import Settings
from gaby.settings.models import ModelSettings
from gaby.skills import review

_AT_ONCE = 30
_MODEL = "openai/recorded"


def by_values(pairs: Sequence[Pair]) -> dict[str, bool]:
    return {pair.id: support(pair.sentence, [pair.source]).holds for pair in pairs}


def by_model(pairs: Sequence[Pair], seat: Seat) -> dict[str, bool]:
    return asyncio.run(_by_model(pairs, seat))


async def _by_model(pairs: Sequence[Pair], seat: Seat) -> dict[str, bool]:
    """Through the product's own review, some pairs at a time, as the sentences of a reply are."""
    verdicts: dict[str, bool] = {}
    with seat.serve() as server:
        models = ModelSettings.model_validate(
            {
                "openai_key": "none",
                "openai_url": server.url,
                "small": _MODEL,
                "timeout": timedelta(minutes=10),
                "patience": timedelta(0),
            }
        )
        async with open_stage(Settings(models=models), FrozenClock(START)) as stage:
            actor = await stage.workspace("entailment")
            for begin in range(0, len(pairs), _AT_ONCE):
                some = pairs[begin : begin + _AT_ONCE]
                seat.begin(f"pairs-{begin:03}")
                occasion = stage.gaby.models.occasion(actor.workspace_id)
                result = await stage.gaby.models.runner.run(review.skill, _draft(some), occasion)
                verdicts |= {some[each.number - 1].id: each.support != "unsupported" for each in result.value.sentences}
    return verdicts


def _draft(pairs: Sequence[Pair]) -> review.ReviewInput:
    numbered = list(enumerate(pairs, 1))
    return review.ReviewInput(
        ticket="Several questions.",
        verdict="needs_tech",
        sentences=[
            review.CitedText(number=number, text=pair.sentence, sources=[f"c{number}"]) for number, pair in numbered
        ],
        sources=[review.ReviewedSource(name=f"c{number}", text=pair.source) for number, pair in numbered],
    )
