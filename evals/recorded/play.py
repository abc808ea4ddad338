"""Plays recorded tickets of a company through the product, with the recording in place of the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from evals.recorded.seat import PromptSize, Seat
from gaby.evals.companies.company import read_company
from gaby.evals.companies.player import play_company
from gaby.evals.companies.results import CompanyResult
from gaby.evals.environment import START, FrozenClock, open_stage
from gaby.settings import Settings
from gaby.settings.models import ModelSettings

HERE = Path(__file__).parent
COMPANIES = HERE.parent / "companies"
_MODEL = "openai/recorded"


@dataclass(frozen=True)
class RecordedPlay:
    result: CompanyResult
    stale: tuple[str, ...]
    """Tickets whose prompts are not in the recording any more."""
    sizes: dict[str, PromptSize]


async def play_recorded(company: str, seat: Seat, tickets: Sequence[str]) -> RecordedPlay:
    """One ticket after the other: what a model is asked must not depend on what happens beside it."""
    read = read_company(COMPANIES / company, tickets)
    results: list[CompanyResult] = []
    with seat.serve() as server:
        models = ModelSettings.model_validate(
            {
                "openai_key": "none",
                "openai_url": server.url,
                "small": _MODEL,
                "big": _MODEL,
                "deep": _MODEL,
                "timeout": timedelta(minutes=10),
                "patience": timedelta(0),
            }
        )
        async with open_stage(Settings(models=models), FrozenClock(START)) as stage:
            for ticket in read.tickets:
                seat.begin(ticket.id)
                alone = read_company(COMPANIES / company, [ticket.id])
                results.append(await play_company(stage, alone, at_once=1))
    whole = results[0].model_copy(
        update={
            "tickets": tuple(each for result in results for each in result.tickets),
            "right_by_doing_nothing": sum(result.right_by_doing_nothing for result in results),
        }
    )
    return RecordedPlay(whole, tuple(dict.fromkeys(seat.stale)), seat.sizes)
