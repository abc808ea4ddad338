"""What a search gives: passages with their citations and the reasons of their scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from gaby.knowledge.citations.tokens import LineCitation
from gaby.knowledge.markdown_text import items_with_their_heading, plain_text


@dataclass(frozen=True)
class ScoreReason:
    """One part of a score. All contributions together are the score."""

    name: str
    value: float
    contribution: float


@dataclass(frozen=True)
class SearchHit:
    citation: str
    document_id: UUID
    source: str
    uri: str
    title: str
    headings: tuple[str, ...]
    first_line: int
    last_line: int
    text: str
    score: float
    confidence: float
    """From 0 to 1: how likely it is that it helps to answer."""
    reasons: tuple[ScoreReason, ...]
    kind: str = "markdown"
    """Of the document: `markdown`, `plain`, `pdf`, `html` or a programming language."""
    link: str | None = None
    first_page: int | None = None
    last_page: int | None = None
    before: str = ""
    """The passage that stands before it in the document, for context."""
    after: str = ""

    @property
    def read_aloud(self) -> str:
        """The text without marks, where they are marks and not part of a program."""
        if self.kind not in {"markdown", "html"}:
            return self.text
        return plain_text(items_with_their_heading(self.text))


@dataclass(frozen=True)
class SearchResults:
    hits: Sequence[SearchHit]
    threshold: float
    """Confidence that the best passage must reach; otherwise there are no hits at all."""
    best: float = 0.0
    """The confidence of the best passage, whether or not it was enough."""
    queries: tuple[str, ...] = field(default=())
    corpus_version: int = 0
    passages: int = 0
    """How many the workspace has in all."""


def citation_of(source: str, uri: str, headings: Sequence[str], first: int, last: int) -> str:
    return str(LineCitation(source, uri, first, last, tuple(headings)))
