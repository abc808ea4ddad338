"""Small pools made by hand."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from gaby.knowledge.retrieval.embedding_text import passage_text, question_text
from gaby.knowledge.retrieval.pool import CandidatePool, PooledPassage
from gaby.knowledge.retrieval.query_expansion import SearchQuery, questions
from gaby.knowledge.terms import terms
from gaby.llm.embeddings.local import DEFAULT, find_embedder

GUIDE = {
    "Lost cards": "If a card is lost or stolen, block the card in the app at once. A new card comes in five days.",
    "Refunds": "A refund is paid to the account that was charged. It takes three to five working days to show up.",
    "Crash loops": "The pod restarts again and again. Read the logs of the last one with kubectl logs --previous.",
    "Quotas": "When the namespace has reached its memory quota, no new pod is scheduled until it is raised.",
    "Error AADSTS50076": "The sign-in needs a second factor because of a policy. Register an authenticator first.",
}


def guide() -> list[PooledPassage]:
    return [pooled_passage(place, place, 0, title, text) for place, (title, text) in enumerate(GUIDE.items())]


def pooled_passage(number: int, document: int, ordinal: int, title: str, text: str) -> PooledPassage:
    return PooledPassage(number, document, ordinal, title, (), text)


def pool_of(passages: Sequence[PooledPassage], queries: Sequence[SearchQuery]) -> CandidatePool:
    """As the index fills it, with the fast model."""
    embed = find_embedder(DEFAULT).embed
    read = [Counter(terms(f"{each.title}\n{each.text}")) for each in passages]
    having = Counter(term for each in read for term in each)
    rarity = {
        term: math.log(1 + (len(read) - having[term] + 0.5) / (having[term] + 0.5))
        for query in queries
        for term in query.terms
        if having[term]
    }
    lexical = [[sum(rarity[term] for term in query.terms if term in each) for each in read] for query in queries]
    vectors = embed([passage_text(DEFAULT, each.title, each.headings, each.text) for each in passages])
    asked = embed([question_text(DEFAULT, query.text, rarity) for query in queries])
    return CandidatePool(
        passages,
        np.array(lexical, np.float32).reshape(len(queries), len(passages)),
        asked @ vectors.T,
        vectors,
        asked,
        rarity,
        len(passages),
    )


def asked(text: str, passages: Sequence[PooledPassage] | None = None) -> tuple[list[SearchQuery], CandidatePool]:
    queries = questions(text)
    return queries, pool_of(guide() if passages is None else passages, queries)
