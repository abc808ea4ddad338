"""A question becomes a few queries: the whole of it, its sentences, its error codes, and what a model made of it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gaby.knowledge.terms import terms
from gaby.mind import extract, split
from gaby.mind.key_sentences import is_courtesy

QueryKind = Literal["whole", "rewrite", "code", "part"]

READ = 20_000
"""What comes after so many characters of a question is not read."""
MOST = 12
_SHORT = 400
"""A text up to this length is taken apart at its clauses and not only at its sentences."""
_CODES = 2
_CLAUSE = re.compile(
    r"[,;:](?=\s)|\s(?:and|then|or|but|with|including|by|so that|to|for|as well as)(?=\s)", re.IGNORECASE
)


@dataclass(frozen=True)
class SearchQuery:
    kind: QueryKind
    text: str
    """What is embedded, in the words of `wording.question_text`."""
    counts: Mapping[str, int]
    """How often each term stands in it: what a long text says again and again is what it is about."""

    @property
    def terms(self) -> tuple[str, ...]:
        """What lexical search asks for."""
        return tuple(self.counts)


def questions(text: str, rewrites: Sequence[str] = (), *, most: int = MOST) -> list[SearchQuery]:
    """The whole text first. At most `most`; none for a text without anything to look for."""
    text = text[:READ]
    queries = [_query("whole", text), *[_query("rewrite", rewrite[:READ]) for rewrite in rewrites[: most - 1]]]
    queries += [_query("code", code) for code in _codes(text)]
    units = _units(text)
    queries += [_query("part", unit) for unit in _grouped(units, most - len(queries))] if len(units) > 1 else []
    return _distinct(queries)[:most]


def _query(kind: QueryKind, text: str) -> SearchQuery:
    return SearchQuery(kind, text, Counter(terms(text)))


def _codes(text: str) -> list[str]:
    codes = dict.fromkeys(entity.value for entity in extract(text) if entity.kind == "error_code")
    return list(codes)[:_CODES]


def _units(text: str) -> list[str]:
    sentences = [sentence.plain for sentence in split(text) if not is_courtesy(sentence)]
    if len(text) <= _SHORT:
        sentences = [clause for sentence in sentences for clause in _CLAUSE.split(sentence)]
    return [unit for unit in dict.fromkeys(sentences) if terms(unit)]


def _grouped(units: Sequence[str], most: int) -> Iterator[str]:
    """Neighbours together, so that a long text needs no more queries than it may have."""
    each, more = divmod(len(units), max(1, most))
    start = 0
    for group in range(min(most, len(units))):
        end = start + each + (group < more)
        yield " ".join(units[start:end])
        start = end


def _distinct(queries: Iterable[SearchQuery]) -> list[SearchQuery]:
    """Of two with the same words the first."""
    known: dict[tuple[str, ...], SearchQuery] = {}
    for query in queries:
        if query.counts:
            known.setdefault(tuple(sorted(query.counts)), query)
    return list(known.values())
