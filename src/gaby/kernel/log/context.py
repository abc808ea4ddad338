"""What the present piece of work belongs to. Logs and spans read it; nobody has to pass it along."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID


@dataclass
class WorkContext:
    request_id: str | None = None
    workspace_id: str | None = None
    investigation_id: str | None = None


class SpanIds(NamedTuple):
    trace_id: str
    span_id: str


_current: ContextVar[WorkContext | None] = ContextVar("gaby_work_context", default=None)
_NONE = WorkContext()
# Apart from the work context, so that what a span learns about the work is not forgotten when the span ends.
_span: ContextVar[SpanIds | None] = ContextVar("gaby_span", default=None)


def work_context() -> WorkContext:
    return _current.get() or _NONE


def span_ids() -> SpanIds | None:
    return _span.get()


@contextmanager
def bind_request(
    request_id: str | None = None,
    workspace_id: UUID | str | None = None,
    investigation_id: UUID | str | None = None,
) -> Generator[WorkContext]:
    """Everything logged inside carries these ids. What is not given stays as it was outside."""
    given = {"request_id": request_id, "workspace_id": workspace_id, "investigation_id": investigation_id}
    context = replace(work_context(), **{name: str(value) for name, value in given.items() if value is not None})
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


@contextmanager
def bind_span(ids: SpanIds) -> Generator[None]:
    token = _span.set(ids)
    try:
        yield
    finally:
        _span.reset(token)


def note_workspace(workspace_id: UUID | str) -> None:
    """Tells the work under way which workspace it turned out to be for, so that its last line carries it as well."""
    context = _current.get()
    if context is not None:
        context.workspace_id = str(workspace_id)
