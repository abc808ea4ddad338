"""Ranking: what answers comes first, with reasons, and nothing comes when nothing answers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.knowledge.retrieval.pool import CandidatePool, Column, PooledPassage
from gaby.knowledge.retrieval.query_expansion import SearchQuery, questions
from gaby.knowledge.retrieval.ranking import RankedPassage, rank
from gaby.knowledge.retrieval.weights import DEFAULT
from tests.knowledge.retrieval.making import asked, guide, pool_of, pooled_passage

pytestmark = pytest.mark.promise("K4")

EVERYTHING = replace(DEFAULT, threshold=0.0)
TICKET = "Hello, my card was stolen yesterday in the train. How do I block it, and when do I get a new card?"


def titles(ranked: Sequence[RankedPassage]) -> list[str]:
    return [each.passage.title for each in ranked]


@pytest.mark.parametrize(
    ("question", "title"),
    [
        (TICKET, "Lost cards"),
        ("Where is my money, I was promised a refund", "Refunds"),
        ("pods keep restarting", "Crash loops"),
        ("AADSTS50076", "Error AADSTS50076"),
    ],
)
def test_what_answers_comes_first(question: str, title: str) -> None:
    assert titles(rank(*asked(question)))[0] == title


@pytest.mark.parametrize("question", ["Which cheese goes well with red wine?", "Wie hoch ist der Eiffelturm?", "🙂🙃"])
def test_nothing_is_returned_when_nothing_fits(question: str) -> None:
    queries = questions(question)
    assert not queries or rank(queries, pool_of(guide(), queries)) == []


def test_the_parts_of_a_score_add_up_to_it() -> None:
    for each in rank(*asked(TICKET), weights=EVERYTHING):
        assert each.score == pytest.approx(sum(part.contribution for part in each.parts))
        assert 0 <= each.confidence <= 1
        assert len({part.name for part in each.parts}) == len(each.parts)


def test_scores_do_not_rise_down_the_list() -> None:
    scores = [each.score for each in rank(*asked(TICKET), weights=EVERYTHING)]
    assert scores == sorted(scores, reverse=True)


@given(st.permutations(range(5)))
def test_the_order_of_the_pool_does_not_matter(order: list[int]) -> None:
    passages = guide()
    usual = rank(*asked(TICKET, passages), weights=EVERYTHING)
    mixed = rank(*asked(TICKET, [passages[place] for place in order]), weights=EVERYTHING)
    assert titles(mixed) == titles(usual)
    assert [each.score for each in mixed] == pytest.approx([each.score for each in usual], abs=1e-5)


def test_a_passage_that_does_not_fit_changes_nothing_for_the_others() -> None:
    queries, pool = asked(TICKET)
    dimensions = pool.vectors.shape[1]
    wider = replace(
        pool,
        candidates=[*pool.candidates, pooled_passage(9, 9, 0, "Cheese", "Brie and claret.")],
        lexical=np.hstack([pool.lexical, np.zeros((len(queries), 1), np.float32)]),
        cosine=np.hstack([pool.cosine, np.full((len(queries), 1), -0.1, np.float32)]),
        vectors=np.vstack([pool.vectors, np.zeros((1, dimensions), np.float32)]),
    )
    before = rank(queries, pool, weights=EVERYTHING)
    after = [each for each in rank(queries, wider, weights=EVERYTHING) if each.passage.title != "Cheese"]
    assert [(each.passage.title, each.score) for each in after] == [(each.passage.title, each.score) for each in before]


def test_one_side_alone_is_enough() -> None:
    queries, pool = asked(TICKET)
    for blind in (replace(pool, lexical=np.zeros_like(pool.lexical)), _without_vectors(pool)):
        assert titles(rank(queries, blind, weights=EVERYTHING))[0] == "Lost cards"


def _without_vectors(pool: CandidatePool) -> CandidatePool:
    return replace(pool, cosine=np.zeros_like(pool.cosine), vectors=np.zeros_like(pool.vectors))


def test_what_is_no_number_counts_as_nothing() -> None:
    queries, pool = asked(TICKET)
    broken = replace(pool, cosine=np.full_like(pool.cosine, np.nan), vectors=np.full_like(pool.vectors, np.inf))
    ranked = rank(queries, broken, weights=EVERYTHING)
    assert titles(ranked)[0] == "Lost cards"
    assert all(np.isfinite(each.score) and np.isfinite(each.confidence) for each in ranked)


def test_an_empty_pool_and_no_queries_give_nothing() -> None:
    queries = questions(TICKET)
    assert rank(queries, pool_of(guide(), queries), limit=0) == []
    assert rank([], pool_of(guide(), queries)) == []
    assert rank(queries, replace(pool_of(guide(), queries), candidates=[])) == []


def test_a_passage_that_says_the_same_again_is_held_back() -> None:
    other = pooled_passage(6, 6, 0, "Thefts", "A stolen card is reported to the police before you get a new one.")
    copy = pooled_passage(7, 7, 0, "Lost cards", guide()[0].text)
    ranked = rank(*asked(TICKET, [*guide(), other, copy]), weights=EVERYTHING)
    assert titles(ranked)[:2] == ["Lost cards", "Thefts"]
    twin = next(each for each in ranked if each.passage.id == 7)
    assert next(part for part in twin.parts if part.name == "twin").contribution < 0


def test_too_many_passages_of_one_document_are_held_back() -> None:
    passages = [
        pooled_passage(place, 0, place * 2, "Cards", f"A stolen card is blocked. Step {place}.") for place in range(4)
    ]
    other = pooled_passage(9, 1, 0, "Thefts", "A stolen card is reported to the police.")
    strict = replace(EVERYTHING, same_document=0.5, twin=0.0)
    ranked = rank(*asked("stolen card", [*passages, other]), weights=strict)
    assert "Thefts" in titles(ranked)[:2]


def test_a_passage_is_helped_by_its_neighbour() -> None:
    near = [
        pooled_passage(1, 1, 0, "A", "A stolen card is blocked in the app."),
        pooled_passage(2, 1, 1, "A", "Then call us."),
    ]
    alone = [*guide()[2:], near[0], pooled_passage(5, 5, 7, "A", "Then call us.")]
    neighbour = [*guide()[2:], *near]
    for_neighbours = replace(EVERYTHING, neighbour=0.3, same_document=0.0, twin=0.0)
    with_it = {each.passage.text: each.score for each in rank(*asked("stolen card", neighbour), weights=for_neighbours)}
    without = {each.passage.text: each.score for each in rank(*asked("stolen card", alone), weights=for_neighbours)}
    assert with_it["Then call us."] > without["Then call us."]


class Contrary:
    """A reranker with an opinion of its own."""

    def rerank(self, queries: Sequence[SearchQuery], pool: CandidatePool, places: Sequence[int]) -> Column:
        return np.array([float(pool.candidates[place].title == "Quotas") for place in places])


def test_another_reranker_can_take_the_second_look() -> None:
    ranked = rank(*asked(TICKET), reranker=Contrary(), weights=replace(EVERYTHING, reading=5.0))
    assert titles(ranked)[0] == "Quotas"


@pytest.mark.parametrize("text", ["", "...", "🙂" * 50_000, "x" * 1_000_000, "the of and " * 50_000, "\0\ud800 card"])
def test_hostile_passages_are_ranked_in_peace(text: str) -> None:
    hostile: list[PooledPassage] = [*guide(), pooled_passage(8, 8, 0, text[:1000], text)]
    assert titles(rank(*asked("stolen card", hostile), weights=EVERYTHING))[0] == "Lost cards"
