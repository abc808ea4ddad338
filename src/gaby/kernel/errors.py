"""The one error family: a docstring that is the message, a status for HTTP, an exit code for the command line."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar


class GabyError(Exception):
    """Something went wrong inside Gaby. The log entry with this request id has the details."""

    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str | None = None, **details: Any) -> None:
        self.message = message or _docstring(type(self))
        self.details: Mapping[str, Any] = details
        super().__init__(self.message)

    @property
    def code(self) -> str:
        """The stable name that programs match on: `ConnectorQuarantined` is `connector_quarantined`."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def headers(self) -> dict[str, str]:
        return {}

    def problem(self) -> dict[str, Any]:
        """The RFC 9457 body that HTTP clients receive."""
        return {
            "type": f"urn:gaby:error:{self.code}",
            "title": _first_sentence(_docstring(type(self))),
            "status": self.status,
            "detail": self.message,
            "code": self.code,
            **({"errors": self.details["errors"]} if "errors" in self.details else {}),
        }


class BadRequest(GabyError):
    """The request could not be understood. Check its form against the API reference."""

    status = 400
    exit_code = 2


class Invalid(GabyError):
    """Some values are not acceptable. Each entry of `errors` says where and why."""

    status = 422
    exit_code = 2


class Unauthenticated(GabyError):
    """Sign in, or send an API key as `Authorization: Bearer gaby-...`."""

    status = 401
    exit_code = 3

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class Forbidden(GabyError):
    """You are not allowed to do this. Ask an admin of the workspace for the permission."""

    status = 403
    exit_code = 3


class NotFound(GabyError):
    """There is no such thing here. Check the id, and that you are in the right workspace."""

    status = 404
    exit_code = 4


class Conflict(GabyError):
    """This cannot be done in the present state. Load it again and retry."""

    status = 409
    exit_code = 5


class TooLarge(GabyError):
    """The request is larger than the server accepts. Send less, or raise `GABY_SERVER_MAX_BODY_BYTES`."""

    status = 413
    exit_code = 2


class TooManyRequests(GabyError):
    """Too many attempts. Wait, then try again."""

    status = 429
    exit_code = 6

    def __init__(self, message: str | None = None, *, retry_after: int = 60, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class Unavailable(GabyError):
    """Gaby cannot store anything at the moment. Nothing was lost; try again shortly.
    `gaby doctor` says what is wrong."""

    status = 503
    exit_code = 6
    retry_after: ClassVar[int] = 5

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class Misconfigured(GabyError):
    """A setting is wrong. `gaby config reference` lists every setting with its meaning."""

    status = 500
    exit_code = 2


def _docstring(error: type[GabyError]) -> str:
    return " ".join((error.__doc__ or GabyError.__doc__ or "").split())


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]
