"""What came of a call, and what a failed result says about its cause."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from gaby.mcp.errors import ConnectorError, SpillFailed
from gaby.mcp.spill import SpillPointer
from gaby_connectors.sdk.manifest import ERROR_META, ErrorKind, ToolErrorDetail


@dataclass(frozen=True)
class ToolCallResult:
    """The connector answered: with a result, or that it could not do it."""

    text: str
    """All texts of the answer. Of a large one only the beginning and the end."""
    structured: Any
    """Nothing when the answer is large."""
    is_error: bool
    error: ToolErrorDetail | None
    size: int
    spilled: SpillPointer | None = None
    spill_error: SpillFailed | None = None
    """Why the rest of a large answer is lost."""


@dataclass(frozen=True)
class OutcomeUnknown:
    """The call was sent, and nobody knows whether it had its effect. It must not be repeated without looking."""

    reason: str
    cause: ConnectorError


Outcome: TypeAlias = ToolCallResult | OutcomeUnknown


@dataclass(frozen=True)
class RawToolResult:
    """What a server sent back, before it is judged."""

    text: str
    structured: Any
    is_error: bool
    meta: Mapping[str, Any]


class ConnectionLost(Exception):
    """The connection ended before the answer came."""

    def __init__(self, cause: ConnectorError, *, sent: bool) -> None:
        super().__init__(cause.message)
        self.cause = cause
        self.sent = sent


def error_detail(reply: RawToolResult) -> ToolErrorDetail | None:
    detail = reply.meta.get(ERROR_META)
    if not reply.is_error or detail is None:
        return None
    try:
        return ToolErrorDetail.model_validate(detail)
    except ValidationError:
        return None


_BY_STATUS = {
    400: ErrorKind.INVALID,
    403: ErrorKind.DENIED,
    404: ErrorKind.NOT_FOUND,
    409: ErrorKind.CONFLICT,
    422: ErrorKind.INVALID,
    429: ErrorKind.RATE_LIMITED,
}


def refused_by_status(status: int, retry_after: str | None) -> RawToolResult:
    """A server that says no by an HTTP status alone."""
    message = f"HTTP {status}"
    detail = {"kind": _BY_STATUS.get(status, ErrorKind.PERMANENT), "message": message}
    if retry_after is not None and re.fullmatch("[0-9]{1,5}", retry_after):
        detail["retry_after"] = retry_after
    return RawToolResult(message, None, is_error=True, meta={ERROR_META: detail})


# Only at the beginning of a failed result: further on stands what others wrote, who could pretend it.
_WITHIN = 300
_EXPIRED = re.compile(
    r"""(?ix)
    \b(?:http|status|status\ code|error|code)[\s:=/]*(?:1\.1\s)?401\b
    | \b401\b[\s:,()-]*unauthori[sz]ed
    | ^\W*(?:error\W+)?unauthori[sz]ed\b
    | \b(?:access|refresh|auth|api|bearer|oauth|session)[\s_-]?(?:token|key)\s(?:is\s|has\s|was\s)?expired
    | ^\W*(?:error\W+)?token\s(?:is\s|has\s|was\s)?expired
    | \bexpired\s(?:access|refresh|auth|api|bearer|oauth)\s(?:token|key)
    | \binvalid_(?:token|grant)\b
    """
)


def auth_expired(reply: RawToolResult) -> bool:
    """Whether a failed result means that the connector must sign in again. In doubt it does not."""
    if not reply.is_error:
        return False
    if ERROR_META in reply.meta:
        detail = error_detail(reply)
        return detail is not None and detail.kind is ErrorKind.AUTH_EXPIRED
    return _EXPIRED.search(reply.text[:_WITHIN]) is not None
