"""An index in memory that fills pools as the real one does: BM25 with FTS5's numbers, and exact cosines."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval_data import Document
from gaby.knowledge.chunking import cut
from gaby.knowledge.documents import DocumentText
from gaby.knowledge.retrieval.embedding_text import passage_text, question_text
from gaby.knowledge.retrieval.pool import CandidatePool, PooledPassage
from gaby.knowledge.retrieval.query_expansion import SearchQuery
from gaby.knowledge.terms import terms
from gaby.llm.embeddings.embed import EmbedTexts
from gaby.mind.words import STOP_WORDS

HITS, HITS_OF_A_PART, HELPED, MOST_TERMS = 100, 40, 30, 24
Scores = NDArray[np.float32]


def plain_words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def without_stop_words(text: str) -> list[str]:
    return [word for word in plain_words(text) if word not in STOP_WORDS]


class Bm25:
    """k1 = 1.2 and b = 0.75, each word of a question once."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._size = len(texts)
        found: dict[str, list[tuple[int, float]]] = {}
        average = sum(map(len, texts)) / max(1, len(texts))
        for place, text in enumerate(texts):
            normalised_length = 1.2 * (1 - 0.75 + 0.75 * len(text) / average)
            for word, count in Counter(text).items():
                found.setdefault(word, []).append((place, count * 2.2 / (count + normalised_length)))
        self._postings = {
            word: (np.array([place for place, _ in rows]), np.array([part for _, part in rows], np.float32))
            for word, rows in found.items()
        }

    def rarity(self, word: str) -> float:
        having = len(self._postings[word][0]) if word in self._postings else 0
        return float(np.log(1 + (self._size - having + 0.5) / (having + 0.5)))

    def known(self, words: Iterable[str]) -> list[str]:
        return [word for word in dict.fromkeys(words) if word in self._postings]

    def scores(self, words: Iterable[str]) -> Scores:
        scores = np.zeros(self._size, np.float32)
        for word in self.known(words):
            places, parts = self._postings[word]
            scores[places] += np.float32(self.rarity(word)) * parts
        return scores


@dataclass(frozen=True)
class Corpus:
    found: list[PooledPassage]
    bm25: Bm25
    vectors: Scores
    model: str
    embed: EmbedTexts
    kept: dict[str, Scores]

    def pool(self, queries: Sequence[SearchQuery]) -> CandidatePool:
        rarity = {word: self.bm25.rarity(word) for query in queries for word in self.bm25.known(query.terms)}
        asked = self._vectors_of([question_text(self.model, query.text, rarity) for query in queries])
        cosine = asked @ self.vectors.T
        lexical = np.stack([self.bm25.scores(_rarest(query.terms, rarity)) for query in queries])
        hits = HITS if len(queries) == 1 else HITS_OF_A_PART
        wanted = set[int]()
        for row, column in ((row, rows is lexical) for rows in (lexical, cosine) for row in rows):
            best = [int(place) for place in np.argsort(-row, kind="stable")[:hits] if row[place] > 0 or not column]
            wanted.update(best)
            near = {place + step for place in best[:HELPED] for step in (-1, 1)}
            wanted |= {place for place in near if 0 <= place < len(self.found)}
        places = sorted(wanted)
        shown = np.zeros_like(lexical)
        for row, scores in zip(shown, lexical, strict=True):
            best = np.argsort(-scores, kind="stable")[:hits]
            row[best] = scores[best]
        return CandidatePool(
            [self.found[place] for place in places],
            shown[:, places],
            cosine[:, places],
            self.vectors[places],
            asked,
            rarity,
            len(self.found),
        )

    def _vectors_of(self, texts: Sequence[str]) -> Scores:
        """Kept, since the choice of weights asks the same questions again and again."""
        new = [text for text in dict.fromkeys(texts) if text not in self.kept]
        if new:
            self.kept.update(zip(new, self.embed(new), strict=True))
        return np.stack([self.kept[text] for text in texts])


def corpus_of(documents: Sequence[Document], model: str, embed: EmbedTexts) -> Corpus:
    found = list(_passages(documents))
    indexed = ["\n".join([each.title, *each.headings, each.text]) for each in found]
    texts = [passage_text(model, each.title, each.headings, each.text) for each in found]
    return Corpus(found, Bm25([terms(each) for each in indexed]), embed(texts), model, embed, {})


def _passages(documents: Sequence[Document]) -> Iterable[PooledPassage]:
    number = 0
    for place, document in enumerate(documents):
        text = DocumentText(document.title, document.text or " ", "markdown")
        for ordinal, passage in enumerate(cut(text)):
            yield PooledPassage(number, place, ordinal, document.title, passage.headings, passage.extract(text.text))
            number += 1


def _rarest(words: Sequence[str], rarity: Mapping[str, float]) -> list[str]:
    return sorted((word for word in words if word in rarity), key=lambda word: (-rarity[word], word))[:MOST_TERMS]


def ranking_by_words(
    documents: Sequence[Document], questions: Sequence[str], tokens: Callable[[str], list[str]]
) -> list[list[int]]:
    """The baseline: whole documents, whole questions."""
    bm25 = Bm25([tokens(f"{document.title}\n{document.text}") for document in documents])
    return [
        [int(place) for place in np.argsort(-bm25.scores(tokens(question)), kind="stable")[:10]]
        for question in questions
    ]
