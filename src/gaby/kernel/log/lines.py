"""One entry as one line: JSON for machines, columns and colours for a terminal."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from gaby.kernel.clock import Clock
from gaby.kernel.log.context import span_ids, work_context
from gaby.kernel.log.values import plain, plain_error, plain_mapping, plain_stack, plain_text

if TYPE_CHECKING:
    from structlog.dev import ConsoleRenderer

Entry = dict[str, Any]
Renderer = Callable[[Entry], str]

_SEVERE = ("error", "critical")
_IDS = ("request_id", "workspace_id", "investigation_id")


def entry(clock: Clock, service: str, level: str, event: object, fields: Mapping[str, object]) -> Entry:
    """The fields every line has, and the rest under `payload`."""
    context, span = work_context(), span_ids()
    ids = {name: fields.get(name) or getattr(context, name) for name in _IDS}
    payload = {name: value for name, value in fields.items() if name not in ids and name != "exc_info"}
    return {
        "ts": clock.now().isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "level": level,
        "service": service,
        **{name: plain(value) for name, value in ids.items() if value is not None or name != "investigation_id"},
        **(span._asdict() if span else {}),
        "event": plain_text(event) if isinstance(event, str) else plain(event),
        "payload": plain_mapping(payload) | _error(level, fields.get("exc_info")),
    }


def json_line(written: Entry) -> str:
    # Pure ASCII, so that no terminal, file or pipe can fail to encode it or show a character of it as a command.
    return json.dumps(written, ensure_ascii=True, separators=(",", ":"))


def console_lines(*, colours: bool) -> Renderer:
    @cache
    def columns() -> "ConsoleRenderer":
        from structlog.dev import ConsoleRenderer

        return ConsoleRenderer(colors=colours, sort_keys=False, pad_event_to=32, timestamp_key="ts")

    def render(written: Entry) -> str:
        payload = dict(written["payload"])
        stack = str(payload.pop("stack", ""))
        outer = {name: value for name, value in written.items() if value is not None and name != "payload"}
        shown = outer | {f"payload.{name}" if name in outer else name: value for name, value in payload.items()}
        shown["event"] = str(written["event"]).replace("\n", "\\n").replace("\t", "\\t")
        shown.pop("service")
        line = columns()(None, written["level"], shown)
        # Indented, so that a line inside an error message cannot pass for an entry of its own.
        return "\n".join([line, *(f"    {part}" for part in stack.splitlines())])

    return render


def _error(level: str, exc_info: object) -> dict[str, Any]:
    if not isinstance(exc_info, BaseException):
        return {}
    error = {"error": plain_error(exc_info)}
    return error | {"stack": plain_stack(exc_info)} if level in _SEVERE else error
