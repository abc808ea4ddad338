"""What the API takes and gives about knowledge."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from gaby.kernel.text import CleanText
from gaby.knowledge.citations.resolver import DocumentExcerpt, ResolvedCitation
from gaby.knowledge.freshness import STALE, DocumentListing
from gaby.knowledge.models import KnowledgeCandidate, KnowledgeFailure, KnowledgeGap, KnowledgeSource
from gaby.knowledge.new_source import NewSource
from gaby.knowledge.retrieval.results import SearchHit, SearchResults
from gaby_connectors.sdk.manifest import Audience

if TYPE_CHECKING:
    from gaby.knowledge.answers import CitedAnswer
    from gaby.knowledge.source_service import SourceOverview

Question = Annotated[str, CleanText(min_length=1, max_length=20_000)]
Option = Annotated[str, CleanText(max_length=1000, one_line=True)]
Seconds = Annotated[int, Field(strict=True, ge=60, le=366 * 86400, description="Null: only when somebody asks.")]


class SourceIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, CleanText(max_length=59, one_line=True)]
    kind: Annotated[str, CleanText(max_length=20, one_line=True)]
    location: Annotated[str, CleanText(max_length=2000, one_line=True)]
    options: Annotated[dict[Option, Option], Field(max_length=20)] = Field(default_factory=dict[str, Option])
    secret: SecretStr | None = None
    every_seconds: Seconds | None = None
    audience: Annotated[Audience, Field(description="Who may be shown its pages.")] = Audience.STAFF

    def new(self) -> NewSource:
        return NewSource(
            self.name,
            self.kind,
            self.location,
            self.options,
            None if self.secret is None else self.secret.get_secret_value(),
            None if self.every_seconds is None else timedelta(seconds=self.every_seconds),
            self.audience,
        )


class SourceChangeIn(BaseModel):
    """What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    every_seconds: Seconds | None = None
    audience: Annotated[Audience | None, Field(description="Who may be shown its pages.")] = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set or ("audience" in self.model_fields_set and self.audience is None):
            raise ValueError("say what to change")
        return self


class SkippedOut(BaseModel):
    count: int = 0
    kinds: Annotated[
        dict[str, int],
        Field(description="How many files there are of each kind, such as .docx; empty: without an extension."),
    ] = Field(default_factory=dict[str, int])
    files: Annotated[list[str], Field(description="Some of them.")] = Field(default_factory=list[str])


class SourceOut(BaseModel):
    id: UUID
    name: str
    kind: str
    location: str
    audience: Annotated[Audience, Field(description="Who may be shown its pages, unless a page says otherwise.")]
    state: str
    error: str | None
    documents: int
    passages: int
    failed: Annotated[int, Field(description="Documents that cannot be read.")]
    skipped: Annotated[SkippedOut, Field(description="Files of kinds that are not read.")]
    done: Annotated[int, Field(description="Documents that the running or last sync has dealt with.")]
    total: Annotated[int | None, Field(description="As far as it is known.")]
    added: int
    changed: int
    removed: int
    every_seconds: int | None
    started_at: datetime | None
    finished_at: datetime | None
    fresh_at: Annotated[datetime | None, Field(description="When a sync last went through to the end.")]
    due_at: datetime | None

    @classmethod
    def from_domain(cls, overview: "SourceOverview") -> Self:
        row = overview.row
        return cls(
            **{name: getattr(row, name) for name in _SOURCE_FIELDS},
            documents=overview.documents,
            passages=overview.passages,
            failed=overview.failed,
            skipped=SkippedOut.model_validate(row.skipped),
        )


_COUNTED = {"documents", "passages", "failed", "skipped"}
_SOURCE_FIELDS = tuple(name for name in SourceOut.model_fields if name not in _COUNTED)


class ProgressOut(BaseModel):
    state: str
    done: int
    total: int | None
    added: int
    changed: int
    removed: int
    error: str | None

    @classmethod
    def from_domain(cls, row: KnowledgeSource) -> Self:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class FailureOut(BaseModel):
    uri: str
    reason: str
    failed_at: datetime

    @classmethod
    def from_domain(cls, row: KnowledgeFailure) -> Self:
        return cls(uri=row.uri, reason=row.reason, failed_at=row.failed_at)


class SearchIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: Question
    limit: Annotated[int, Field(strict=True, ge=1, le=50)] = 6
    everything: Annotated[bool, Field(strict=True, description="Also what hardly fits.")] = False


class ReasonOut(BaseModel):
    name: str
    value: float
    contribution: float


class HitOut(BaseModel):
    citation: str
    document_id: UUID
    source: str
    uri: str
    kind: str
    title: str
    headings: list[str]
    first_line: int
    last_line: int
    first_page: int | None
    last_page: int | None
    text: str
    before: str
    after: str
    link: str | None
    score: Annotated[float, Field(description="The sum of the contributions of its reasons.")]
    confidence: Annotated[float, Field(description="From 0 to 1: how likely it helps to answer.")]
    reasons: list[ReasonOut]

    @classmethod
    def from_domain(cls, hit: SearchHit) -> Self:
        return cls.model_validate(hit, from_attributes=True)


class SearchOut(BaseModel):
    hits: list[HitOut]
    threshold: Annotated[float, Field(description="What the best passage must reach, or there are no hits.")]
    best: Annotated[float, Field(description="What the best passage reached.")]
    queries: list[str]
    corpus_version: int
    passages: int

    @classmethod
    def from_domain(cls, results: SearchResults) -> Self:
        return cls(
            hits=[HitOut.from_domain(hit) for hit in results.hits],
            threshold=results.threshold,
            best=results.best,
            queries=list(results.queries),
            corpus_version=results.corpus_version,
            passages=results.passages,
        )


class AskIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: Question


class ClaimOut(BaseModel):
    text: str
    citations: list[str]
    holds: Annotated[bool, Field(description="Whether the cited lines support it.")]
    doubt: str


class AnswerOut(BaseModel):
    text: str
    claims: list[ClaimOut]
    written_by: Annotated[str, Field(description="A model, or `offline`.")]
    asked_again: bool
    found: SearchOut

    @classmethod
    def from_domain(cls, answer: "CitedAnswer") -> Self:
        return cls(
            text=answer.text,
            claims=[ClaimOut.model_validate(claim, from_attributes=True) for claim in answer.claims],
            written_by=answer.written_by,
            asked_again=answer.asked_again,
            found=SearchOut.from_domain(answer.results),
        )


class DocumentOut(BaseModel):
    id: UUID
    source: str
    uri: str
    title: str
    kind: str
    lines: int
    passages: int
    audience: Annotated[Audience, Field(description="Its own, from its front matter, or that of its source.")]
    changed_at: datetime
    used_at: datetime | None
    uses: int
    stale: Annotated[bool, Field(description=f"No answer cited it for {STALE.days} days.")]

    @classmethod
    def from_domain(cls, line: DocumentListing) -> Self:
        return cls.model_validate(line, from_attributes=True)


class LinesOut(BaseModel):
    document_id: UUID
    source: str
    uri: str
    title: str
    link: str | None
    first_line: int
    last_line: int
    lines: Annotated[int, Field(description="How many there are in all.")]
    text: str

    @classmethod
    def from_domain(cls, opened: DocumentExcerpt) -> Self:
        return cls.model_validate(opened, from_attributes=True)


class CitationOut(BaseModel):
    token: str
    state: Annotated[
        Literal["current", "moved", "changed", "gone"], Field(description="How the document is since it was cited.")
    ]
    text: str
    opened: LinesOut | None
    cited_at: datetime | None

    @classmethod
    def from_domain(cls, resolved: ResolvedCitation) -> Self:
        return cls.model_validate(resolved, from_attributes=True)


class CandidateOut(BaseModel):
    id: UUID
    title: str
    text: str
    origin: str
    origins: list[str]
    seen: int
    rating: int | None
    state: str
    staged_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    reason: str | None
    edited: bool

    @classmethod
    def from_domain(cls, row: KnowledgeCandidate) -> Self:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class CandidateDecisionIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    decision: Annotated[
        Literal["accept", "reject", "unlearn"], Field(description="`unlearn` takes back what was accepted.")
    ]
    title: Annotated[str, CleanText(min_length=1, max_length=300, one_line=True)] | None = None
    text: Annotated[str, CleanText(min_length=1, max_length=50_000)] | None = None
    reason: Annotated[str, CleanText(max_length=1000)] | None = None

    @model_validator(mode="after")
    def _has_a_reason(self) -> Self:
        if self.decision != "accept" and not (self.reason or "").strip():
            raise ValueError("say why")
        return self


class GapOut(BaseModel):
    id: UUID
    question: str
    asked: int
    examples: list[str]
    first_at: datetime
    last_at: datetime

    @classmethod
    def from_domain(cls, row: KnowledgeGap) -> Self:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})
