"""What went wrong at a provider, as one of our errors: short, printable, and without the key."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import httpx2
import orjson

from gaby.kernel.clock import Clock
from gaby.kernel.text import printable
from gaby.llm.errors import (
    AnswerCutOff,
    AnswerUnreadable,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelTimedOut,
    ModelUnknown,
    RequestRefused,
)
from gaby.llm.messages import TokenUsage
from gaby.llm.providers.retry_after import retry_after
from gaby.llm.providers.transport import CompressedResponse, ResponseTooLarge

_LONGEST_MESSAGE = 300
_LONGEST_LOOK = 4 * _LONGEST_MESSAGE
_SHORTEST_PART_OF_A_KEY = 8
_SILENT = "Server disconnected without sending a response."

_BY_STATUS: Mapping[int, type[ModelError]] = {
    401: KeyRefused,
    402: ModelBusy,
    403: KeyRefused,
    404: ModelUnknown,
    408: ModelTimedOut,
    409: ModelDown,
    425: ModelBusy,
    429: ModelBusy,
    503: ModelBusy,
    504: ModelTimedOut,
    529: ModelBusy,
}


class VendorStreamError(Exception):
    """An error that came inside a stream, as the status and the body that it stands for."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class ResponseProgress(Protocol):
    """How far an answer had come."""

    begun: bool
    """Whether a response had begun to arrive."""

    @property
    def billed(self) -> TokenUsage | None:
        """What the vendor had said that it charges."""
        ...


@dataclass
class NoProgress:
    """For answers that come in one piece."""

    begun: bool = False
    billed: TokenUsage | None = None


@dataclass(frozen=True)
class ErrorTranslator:
    """One vendor's package and account: what it raises, and what must not be repeated."""

    status: type[Exception]
    timeout: type[Exception]
    connection: type[Exception]
    other: type[Exception]
    key: str | None = field(repr=False)
    clock: Clock

    @contextmanager
    def translate_errors(self, seen: ResponseProgress) -> Generator[None]:
        """Whatever is raised inside leaves as a `ModelError`. It has no cause: a vendor's error holds the request,
        and with it the key."""
        try:
            yield
        except (TimeoutError, httpx2.TimeoutException, self.timeout):
            raise ModelTimedOut(usage=seen.billed) from None
        except VendorStreamError as error:
            raise self.of_status(error.status, {}, error.body) from None
        except self.status as error:
            response: httpx2.Response = cast("Any", error).response
            raise self.of_status(response.status_code, response.headers, body_of(response)) from None
        except (httpx2.RequestError, self.connection, ResponseTooLarge, CompressedResponse) as error:
            raise _broken(error, seen) from None
        except (self.other, ValueError, httpx2.InvalidURL) as error:
            if seen.begun:
                raise
            raise RequestRefused(f"The request cannot be sent: {self.shown(str(error))}") from None

    def of_status(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        said = self.shown(message_of(body))
        if 300 <= status < 400:
            return RequestRefused("The provider's address points to another one. Set the address it really has.")
        if status == 404 and not said:
            return ModelUnknown("Nothing is there. Check the address, and whether the provider has the model.")
        error = _BY_STATUS.get(status, ModelDown if status >= 500 else RequestRefused)
        wait = retry_after(headers, now=self.clock.now()) if error in (ModelBusy, ModelDown) else None
        # A vendor's words about a key tend to repeat parts of it.
        message = f"{_words(error)} It said: {said}" if said and error is not KeyRefused else None
        return error(message, retry_after=wait, http_status=status)

    def shown(self, text: str) -> str:
        text = _without(text[:_LONGEST_LOOK], self.key) if self.key else text
        short = text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"
        return printable(short, one_line=True)


def body_of(response: httpx2.Response) -> bytes:
    """What was read of it. A broken connection may have left nothing."""
    try:
        return response.content
    except httpx2.ResponseNotRead:
        return b""


def message_of(body: bytes) -> str:
    """The sentence in a vendor's error, wherever this vendor puts it. Nothing when the body is a page or garbage."""
    try:
        message: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    for name in ("error", "message", "detail"):
        if isinstance(message, dict):
            message = cast("dict[str, Any]", message).get(name, cast("Any", message))
    return re.sub(r"\s+", " ", message).strip() if isinstance(message, str) else ""


def _words(error: type[ModelError]) -> str:
    return " ".join((error.__doc__ or "").split())


def _broken(error: Exception, seen: ResponseProgress) -> ModelError:
    cause = error if isinstance(error, httpx2.RequestError | ResponseTooLarge | CompressedResponse) else error.__cause__
    match cause:
        case ResponseTooLarge():
            return AnswerUnreadable("The provider's answer is too long to be one.", usage=seen.billed)
        case CompressedResponse():
            return AnswerUnreadable("The provider's answer is compressed, although nobody asked for that.")
        case httpx2.TimeoutException():
            return ModelTimedOut(usage=seen.billed)
        case _ if seen.begun:
            return AnswerCutOff(usage=seen.billed)
        case httpx2.RemoteProtocolError() if str(cause) != _SILENT:
            return AnswerUnreadable()
        case _:
            return ModelDown()


def _without(text: str, key: str) -> str:
    """The text without the key, and without any longer part of it."""
    kept: list[str] = []
    at = 0
    while at < len(text):
        length = _shared(text, at, key)
        if length >= min(_SHORTEST_PART_OF_A_KEY, len(key)):
            kept.append("[key]")
            at += length
        else:
            kept.append(text[at])
            at += 1
    return "".join(kept)


def _shared(text: str, at: int, key: str) -> int:
    """How much of the text from here on is a part of the key."""
    length = 0
    while at + length < len(text) and text[at : at + length + 1] in key:
        length += 1
    return length
