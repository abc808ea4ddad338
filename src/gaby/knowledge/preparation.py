"""From what a source brought to what the index stores. Blocks, so it is done in a thread."""

from collections.abc import Sequence
from dataclasses import dataclass

from gaby.knowledge.chunking import cut
from gaby.knowledge.documents import DocumentText, Passage, RawDocument, content_hash
from gaby.knowledge.parsers import read
from gaby.knowledge.retrieval.embedding_text import passage_text
from gaby.knowledge.search_text import searchable
from gaby.knowledge.terms import terms


@dataclass(frozen=True)
class PreparedDocument:
    """A document with its passages, all but the vectors."""

    uri: str
    fingerprint: str
    link: str | None
    text: DocumentText
    content_hash: str
    passages: Sequence[Passage]
    terms: Sequence[Sequence[str]]
    """What lexical search knows each passage by."""

    def worded(self, model: str) -> list[str]:
        """What this model is given of each passage."""
        title, text = self.text.title, self.text.text
        return [passage_text(model, title, passage.headings, passage.extract(text)) for passage in self.passages]


def prepare(brought: RawDocument, fingerprint: str) -> PreparedDocument:
    """Raises `Unreadable` with the reason."""
    text = read(brought)
    passages = cut(text)
    return PreparedDocument(
        brought.uri,
        fingerprint,
        brought.link,
        text,
        content_hash(text.text),
        passages,
        [terms(searchable(text.title, passage.headings, passage.extract(text.text))) for passage in passages],
    )
