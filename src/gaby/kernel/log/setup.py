"""Where log lines go. Our own and those of uvicorn, alembic and SQLAlchemy take the same way."""

import logging
import sys
import threading
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

from gaby.kernel.clock import Clock, SystemClock
from gaby.kernel.log.lines import Renderer, console_lines, entry, json_line
from gaby.kernel.log.values import plain

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger as Log
else:
    Log = object

EventDict = MutableMapping[str, Any]
Level = Literal["debug", "info", "warning", "error", "critical"]
Style = Literal["auto", "json", "console"]

# Clients log each request with its address, which can carry a secret; the others tell of their own inner life.
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "exception": logging.ERROR,
}
_CHATTY = ("httpx2", "httpcore2", "urllib3", "asyncio", "alembic", "mcp", "uvicorn.error")


def get_log(name: str) -> Log:
    return cast("Log", _LazyLog(name))


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


class _LazyLog:
    """Modules take their logger at import, before anything is configured, and most commands log nothing.

    So structlog, which takes as long to load as a small command, comes with the first line that is written.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, method: str) -> Any:
        if _LEVELS.get(method, logging.CRITICAL) < _destination.level:
            return _ignore
        return getattr(_destination.logger(self._name), method)


def _ignore(*_arguments: object, **_fields: object) -> None:
    pass


@dataclass
class _Destination:
    sink: _Sink
    level: int
    configured: bool = False

    def logger(self, name: str) -> Any:
        import structlog

        if not self.configured:
            structlog.configure(
                processors=[_process],
                wrapper_class=structlog.make_filtering_bound_logger(self.level),
                logger_factory=partial(_NamedLogger, self.sink),
                cache_logger_on_first_use=False,
            )
            self.configured = True
        return structlog.get_logger(name)


def _send_to(sink: _Sink, level: int) -> None:
    global _destination  # noqa: PLW0603
    _destination = _Destination(sink, level)


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
_destination = _Destination(_Sink(None, "gaby", SystemClock(), json_line), logging.WARNING)
