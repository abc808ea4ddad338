"""Investigations with the recorded answers of a capable model: the same prompts, and answers that stand."""

import asyncio
from statistics import median

import pytest
from evals.recorded.play import HERE, RecordedPlay, play_recorded
from evals.recorded.recording import Recording, read_recording
from evals.recorded.seat import Seat

pytestmark = [pytest.mark.promise("L4", "L5", "L12", "L14", "G5", "G10", "X5"), pytest.mark.slow]

COMPANIES = sorted(path.stem for path in HERE.glob("*.jsonl"))


def played(company: str, recording: Recording | None = None) -> RecordedPlay:
    recording = recording or read_recording(HERE / f"{company}.jsonl")
    return asyncio.run(play_recorded(company, Seat(recording), recording.tickets))


def test_of_one_company_nothing_is_stale_unsafe_or_wrong() -> None:
    play = played("energy")
    assert not play.stale, (
        "these prompts have changed; record them anew with `python -m evals.recorded energy --record`"
    )
    assert play.result.tickets
    assert not [each for each in play.result.tickets if each.grade in {"unsafe", "leak", "wrong"}]


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_what_a_capable_model_concluded_reaches_people_as_it_was_meant() -> None:
    plays = [played(company) for company in COMPANIES]
    stale = [ticket for play in plays for ticket in play.stale]
    assert not stale, "these prompts have changed; record them anew with `python -m evals.recorded COMPANY --record`"
    tickets = [each for play in plays for each in play.result.tickets]
    assert len(COMPANIES) >= 3
    assert len(tickets) >= 25
    assert not [each for each in tickets if each.grade in {"unsafe", "leak", "wrong"}]
    assert sum(each.grade == "right" for each in tickets) >= 0.85 * len(tickets)
    sizes = [size for play in plays for size in play.sizes.values()]
    assert median(size.tokens for size in sizes) <= 25_000
    assert sum(size.repeated for size in sizes) >= 0.7 * sum(size.tokens for size in sizes)


def test_a_recording_that_lacks_an_answer_is_stale() -> None:
    whole = read_recording(HERE / "energy.jsonl")
    ticket = whole.tickets[0]
    kept = [each for each in whole.answers.values() if each.ticket == ticket][:-1]
    cut = Recording(whole.path, {each.key: each for each in kept})
    assert played("energy", cut).stale == (ticket,)
