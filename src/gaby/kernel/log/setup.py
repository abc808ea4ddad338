"""Where log lines go. Our own and those of uvicorn, alembic and SQLAlchemy take the same way."""

import logging
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal, TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger

from gaby.kernel.clock import Clock, SystemClock
from gaby.kernel.log.lines import Renderer, console_lines, entry, json_line
from gaby.kernel.log.values import plain

Log = FilteringBoundLogger
Level = Literal["debug", "info", "warning", "error", "critical"]
Style = Literal["auto", "json", "console"]

# Clients log each request with its address, which can carry a secret; the others tell of their own inner life.
_CHATTY = ("httpx2", "httpcore2", "urllib3", "asyncio", "alembic", "mcp", "uvicorn.error")


def get_log(name: str) -> Log:
    return structlog.get_logger(name)


def configure(
    service: str = "gaby",
    *,
    level: Level = "info",
    style: Style = "auto",
    stream: TextIO | None = None,
    clock: Clock | None = None,
) -> None:
    """Sends every log line to the stream, standard output by default. `auto` is JSON unless it is a terminal."""
    out = stream or sys.stdout
    terminal = out.isatty()
    pretty = style == "console" or (style == "auto" and terminal)
    render = console_lines(colours=terminal) if pretty else json_line
    sink = _Sink(out, service, clock or SystemClock(), render)
    number = logging.getLevelNamesMapping()[level.upper()]
    _send_to(sink, number)
    _route_stdlib(sink, number)


class _Sink:
    """Writes entries. A stream that is closed, full or gone loses lines; it never takes the work down with it."""

    def __init__(self, stream: TextIO | None, service: str, clock: Clock, render: Renderer) -> None:
        self._stream = stream
        self._service = service
        self._clock = clock
        self._render = render
        self._lock = threading.Lock()

    def line(self, name: str, level: str, fields: EventDict) -> str:
        rest = {"logger": name} | {key: value for key, value in fields.items() if key != "event"}
        rest["exc_info"] = _exception(rest.get("exc_info"))
        return self._render(entry(self._clock, self._service, level, fields.get("event"), rest))

    def write(self, line: str) -> None:
        stream = self._stream or sys.stderr
        encoding = stream.encoding or "utf-8"
        text = f"{line}\n".encode(encoding, "backslashreplace").decode(encoding)
        with self._lock, suppress(OSError, ValueError):
            stream.write(text)
            stream.flush()


@dataclass(frozen=True)
class _NamedLogger:
    sink: _Sink
    name: str

    def write(self, line: str) -> None:
        self.sink.write(line)

    debug = info = warning = error = critical = write


def _process(logger: _NamedLogger, method: str, fields: EventDict) -> str:
    return logger.sink.line(logger.name, "error" if method == "exception" else method, fields)


class _Bridge(logging.Handler):
    def __init__(self, sink: _Sink) -> None:
        super().__init__()
        self._sink = sink

    def emit(self, record: logging.LogRecord) -> None:
        level = logging.getLevelName(max(10, min(50, record.levelno // 10 * 10))).lower()
        fields: EventDict = {"event": _message(record), "exc_info": record.exc_info}
        self._sink.write(self._sink.line(record.name, level, fields))


def _send_to(sink: _Sink, level: int) -> None:
    structlog.configure(
        processors=[_process],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=partial(_NamedLogger, sink),
        # Modules take their logger at import, before anything is configured.
        cache_logger_on_first_use=False,
    )


def _route_stdlib(sink: _Sink, level: int) -> None:
    root = logging.getLogger()
    root.handlers[:] = [_Bridge(sink)]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.asgi", "alembic", "sqlalchemy"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # Its lines have the query string; ours in `http.request` do not.
    logging.getLogger("uvicorn.access").disabled = True
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def _message(record: logging.LogRecord) -> str:
    message = record.msg if isinstance(record.msg, str) else str(plain(record.msg))
    if not record.args:
        return message
    if isinstance(record.args, Mapping):
        arguments = {name: _formattable(value) for name, value in record.args.items()}
    else:
        arguments = tuple(_formattable(value) for value in record.args)
    try:
        return message % arguments
    except (TypeError, ValueError, KeyError):
        return f"{message} {arguments}"


def _formattable(value: object) -> object:
    shown = plain(value)
    return shown if isinstance(shown, int | float) else str(shown)


def _exception(exc_info: object) -> BaseException | None:
    if isinstance(exc_info, tuple):
        exc_info = next(
            (part for part in cast("tuple[object, ...]", exc_info) if isinstance(part, BaseException)), None
        )
    if isinstance(exc_info, BaseException):
        return exc_info
    return sys.exc_info()[1] if exc_info else None


# Until `configure` is called, only what is serious, and masked all the same.
_send_to(_Sink(None, "gaby", SystemClock(), json_line), logging.WARNING)
