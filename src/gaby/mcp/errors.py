"""What can go wrong with a connector, in words that name it and say what to do."""

from math import ceil
from typing import Any, ClassVar

from gaby.kernel.errors import Conflict, GabyError, Invalid, NotFound, Unavailable

_SOON = 5.0
"""Seconds, for a connector that is being started again."""


class ConnectorError(GabyError):
    """A connector could not do its work. `gaby connector list` says which one and why."""

    status = 502
    hopeless: ClassVar[bool] = False
    """Whether starting again without a change by the operator would fail in the same way."""

    def __init__(self, message: str | None = None, *, connector: str = "", **details: Any) -> None:
        super().__init__(message, connector=connector, **details)
        self.connector = connector
        if message is None and connector:
            self.message = f"{connector}: {self.message}"
            self.args = (self.message,)


class ConnectorUnknown(NotFound):
    """There is no such connector in this workspace. `gaby connector list` shows those that exist."""


class ConnectorUnavailable(ConnectorError):
    """The connector cannot be used at the moment. Nothing was sent to it; try again shortly."""

    status = 503
    exit_code = 6

    def __init__(
        self, message: str | None = None, *, connector: str = "", retry_after: float | None = _SOON, **details: Any
    ) -> None:
        super().__init__(message, connector=connector, **details)
        self.retry_after = None if self.hopeless else retry_after
        """In how many seconds it may be of use to try again. None: not before an operator has changed something."""

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(ceil(self.retry_after))}


class ConnectorDegraded(ConnectorUnavailable):
    """The connector failed too often and is left alone for a while. Nothing was sent to it. Look at its log."""


class ConnectorStartFailed(ConnectorUnavailable):
    """The connector did not start. Nothing was sent to it. Check its command, its settings and its log."""


class ConnectorStartTimedOut(ConnectorStartFailed):
    """The connector was not ready in time. Nothing was sent to it. Check its settings and its log."""


class ConnectorCommandNotFound(ConnectorStartFailed):
    """The connector's command cannot be run. Check that it is installed and that the path is right."""

    hopeless = True


class ConnectorShutDown(ConnectorUnavailable):
    """The connector was shut down or replaced. Nothing was sent to it."""


class ConnectorTimedOut(ConnectorError):
    """The connector did not answer in time and was stopped. Ask for less, or allow it more time."""

    status = 504


class ConnectorCrashed(ConnectorError):
    """The connector ended before it answered. Its log has its last words."""


class ConnectorProtocolError(ConnectorError):
    """The connector does not keep to the protocol. Its maker has to mend it."""


class ResultTooLarge(ConnectorError):
    """The connector's answer is larger than Gaby accepts. Ask for less at once."""


class ConnectorAuthExpired(ConnectorError):
    """The connector is no longer signed in to its system. An admin must connect it again."""

    status = 424
    hopeless = True


class DefinitionsRefused(ConnectorError):
    """The connector describes its tools in a way that Gaby does not accept. Its maker has to mend it."""

    hopeless = True


class ImpossibleMove(GabyError):
    """A connector cannot go from its present state to that one. This is a mistake in Gaby; please report it."""


class SpillFailed(Unavailable):
    """A large answer could not be kept on disk, so that only its beginning and end remain. Make room on the disk."""


class SpillNotFound(NotFound):
    """There is no such stored answer, or it was removed because of its age. Ask the connector again."""


class SpillDamaged(Conflict):
    """A stored answer cannot be opened: its file was changed. Ask the connector again."""


class NoSuchPage(Invalid):
    """The stored answer has fewer pages than that."""
