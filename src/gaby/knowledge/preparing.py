"""From what a source brought to what the index stores. Blocks, so it is done in a thread."""

from collections.abc import Sequence
from dataclasses import dataclass

from gaby.knowledge.chunking import cut
from gaby.knowledge.documents import Brought, Passage, Text, content_hash
from gaby.knowledge.reading import read
from gaby.knowledge.searchable import searchable
from gaby.knowledge.terms import terms


@dataclass(frozen=True)
class Prepared:
    """A document with its passages, all but the vectors."""

    uri: str
    fingerprint: str
    link: str | None
    text: Text
    content_hash: str
    passages: Sequence[Passage]
    searched: Sequence[str]
    """What each passage is found by: its title, its headings and its text."""
    terms: Sequence[Sequence[str]]


def prepare(brought: Brought, fingerprint: str) -> Prepared:
    """Raises `Unreadable` with the reason."""
    text = read(brought)
    passages = cut(text)
    searched = [searchable(text.title, passage.headings, passage.of(text.text)) for passage in passages]
    return Prepared(
        brought.uri,
        fingerprint,
        brought.link,
        text,
        content_hash(text.text),
        passages,
        searched,
        [terms(each) for each in searched],
    )
