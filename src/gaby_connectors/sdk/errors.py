"""How a tool says that it could not do what was asked."""

from typing import Literal

from gaby_connectors.sdk.manifest import ErrorKind

Outcome = Literal["nothing", "unknown"]


class ToolError(Exception):
    """A failure in words that Gaby knows how to answer.

    `outcome` is for writes: `nothing` means that the call can be tried again with the same key; `unknown` means that
    the effect may have happened, so it must not be repeated blindly.
    """

    def __init__(
        self, kind: ErrorKind, message: str, *, retry_after: float | None = None, outcome: Outcome = "nothing"
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        self.outcome: Outcome = outcome


def invalid(message: str) -> ToolError:
    return ToolError(ErrorKind.INVALID, message)


def not_found(message: str) -> ToolError:
    return ToolError(ErrorKind.NOT_FOUND, message)


def conflict(message: str) -> ToolError:
    return ToolError(ErrorKind.CONFLICT, message)


def denied(message: str) -> ToolError:
    return ToolError(ErrorKind.DENIED, message)


def transient(message: str, *, retry_after: float | None = None, outcome: Outcome = "nothing") -> ToolError:
    return ToolError(ErrorKind.TRANSIENT, message, retry_after=retry_after, outcome=outcome)


class NotConfigured(Exception):
    """The connector's settings are missing or wrong. The message names each of them."""
