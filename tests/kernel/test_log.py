"""Every log line is one JSON object with the agreed fields, whoever wrote it."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from gaby.kernel.clock import ManualClock
from gaby.kernel.log import bind_request, configure, get_log, note_workspace, work_context
from tests.kernel.logs import captured, restored

pytestmark = pytest.mark.promise("O1")

WORKSPACE = UUID("0190a0a0-0000-7000-8000-000000000001")
log = get_log("tests.log")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class FullDisk(io.StringIO):
    def write(self, _text: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.fixture
def lines() -> Generator[Callable[[], list[dict[str, Any]]]]:
    stream = io.StringIO()
    with restored():
        configure("gaby-test", level="debug", stream=stream, clock=ManualClock(datetime(2026, 1, 2, tzinfo=UTC)))
        yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


Lines = Callable[[], list[dict[str, Any]]]


def test_a_line_has_the_agreed_fields(lines: Lines) -> None:
    with bind_request(request_id="r-1", workspace_id=WORKSPACE):
        log.info("approval.requested", run="r1", rule="refunds")
    assert lines() == [
        {
            "ts": "2026-01-02T00:00:00.000000Z",
            "level": "info",
            "service": "gaby-test",
            "request_id": "r-1",
            "workspace_id": str(WORKSPACE),
            "event": "approval.requested",
            "payload": {"logger": "tests.log", "run": "r1", "rule": "refunds"},
        }
    ]


def test_outside_any_work_the_ids_are_null_and_the_optional_ones_absent(lines: Lines) -> None:
    log.warning("started")
    (line,) = lines()
    assert line["request_id"] is None
    assert line["workspace_id"] is None
    assert line.keys() == {"ts", "level", "service", "request_id", "workspace_id", "event", "payload"}


def test_an_inner_scope_adds_to_the_outer_and_ends_with_it(lines: Lines) -> None:
    with bind_request(request_id="outer"):
        with bind_request(investigation_id="inv-1"):
            log.info("inside")
        log.info("outside")
    inside, outside = lines()
    assert (inside["request_id"], inside["investigation_id"]) == ("outer", "inv-1")
    assert "investigation_id" not in outside


def test_the_workspace_found_out_later_is_on_the_last_line_too(lines: Lines) -> None:
    note_workspace(WORKSPACE)
    assert work_context().workspace_id is None
    with bind_request(request_id="r"):
        note_workspace(WORKSPACE)
        log.info("http.request")
    log.info("after")
    during, after = lines()
    assert during["workspace_id"] == str(WORKSPACE)
    assert after["workspace_id"] is None


def test_an_id_given_with_the_event_is_not_hidden_in_the_payload(lines: Lines) -> None:
    log.info("swept", workspace_id=WORKSPACE)
    (line,) = lines()
    assert line["workspace_id"] == str(WORKSPACE)
    assert "workspace_id" not in line["payload"]


def test_names_that_clash_with_ours_stay_in_the_payload(lines: Lines) -> None:
    log.info("x", level="gold", ts=1, service="s", payload="p")
    (line,) = lines()
    assert (line["level"], line["service"]) == ("info", "gaby-test")
    assert line["payload"] == {"logger": "tests.log", "level": "gold", "ts": 1, "service": "s", "payload": "p"}


def test_an_error_tells_type_and_message_and_at_error_level_the_stack(lines: Lines) -> None:
    try:
        raise KeyError("plan")
    except KeyError as error:
        log.warning("retrying", exc_info=error)
        log.exception("gave_up")
        log.info("noted", problem=error)
    retrying, gave_up, noted = lines()
    assert retrying["payload"]["error"] == {"type": "KeyError", "message": "'plan'"}
    assert "stack" not in retrying["payload"]
    assert gave_up["level"] == "error"
    assert 'raise KeyError("plan")' in gave_up["payload"]["stack"]
    assert noted["payload"]["problem"] == {"type": "KeyError", "message": "'plan'"}


def test_the_level_hides_what_is_below_it() -> None:
    stream = io.StringIO()
    with restored():
        configure(level="warning", stream=stream)
        log.info("quiet")
        logging.getLogger("alembic").info("quiet")
        log.warning("loud")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["loud"]


def test_the_standard_library_takes_the_same_way(lines: Lines) -> None:
    with bind_request(request_id="r-2"):
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request [%d]", 7)
        logging.getLogger("alembic.runtime").warning("%(what)s done", {"what": "upgrade"})
        logging.getLogger("uvicorn.access").info("GET /?token=s3cret")
        logging.getLogger("httpx2").info("GET https://a/?key=1")
    first, second = lines()
    assert (first["event"], first["level"], first["request_id"]) == ("Invalid HTTP request [7]", "warning", "r-2")
    assert (second["event"], second["payload"]["logger"]) == ("upgrade done", "alembic.runtime")


def test_a_failure_logged_away_from_where_it_happened_keeps_its_stack(lines: Lines) -> None:
    error = ZeroDivisionError("by nothing")
    logging.getLogger("uvicorn.error").error("Task failed", exc_info=(type(error), error, None))
    (line,) = lines()
    assert line["payload"]["error"] == {"type": "ZeroDivisionError", "message": "by nothing"}


def test_a_wrong_number_of_arguments_still_gives_a_line() -> None:
    wanted = "%d of %d"
    with captured() as stream:
        logging.getLogger("x").error(wanted, "one")
    assert json.loads(stream.getvalue())["event"].startswith("%d of %d")


def test_configuring_twice_does_not_double_the_lines(lines: Lines) -> None:
    other = io.StringIO()
    configure(stream=other)
    logging.getLogger("x").warning("once")
    assert lines() == []
    assert len(other.getvalue().splitlines()) == 1


@pytest.mark.promise("O5")
def test_a_full_disk_loses_lines_but_not_the_work() -> None:
    with restored():
        configure(stream=FullDisk())
        log.info("lost")
        logging.getLogger("x").error("lost too")


def test_a_closed_stream_loses_lines_but_not_the_work() -> None:
    stream = io.StringIO()
    with restored():
        configure(stream=stream)
        stream.close()
        log.info("lost")


def test_a_terminal_gets_columns_and_colours_and_a_file_does_not() -> None:
    terminal, file = Terminal(), io.StringIO()
    with restored():
        configure(stream=terminal)
        log.info("ticket.done", ticket="t 1", level="gold")
        configure(stream=file, style="console")
        log.info("ticket.done", ticket="t 1")
    assert "\x1b[" in terminal.getvalue()
    assert "payload.level" in terminal.getvalue()
    assert "\x1b[" not in file.getvalue()
    assert "ticket='t 1'" in file.getvalue()


def test_on_a_terminal_the_stack_is_indented_so_that_no_message_can_pass_for_an_entry() -> None:
    stream = io.StringIO()
    with restored():
        configure(stream=stream, style="console")
        log.error("failed\n2026-01-01 [info] forged", exc_info=ValueError("a\n2026-01-01 [info] forged"))
    first, *rest = stream.getvalue().splitlines()
    assert "failed\\n2026" in first
    assert rest
    assert all(line.startswith("    ") for line in rest)


def test_a_stream_that_knows_only_ascii_is_enough() -> None:
    raw = io.BytesIO()
    with restored():
        configure(stream=io.TextIOWrapper(raw, encoding="ascii", write_through=True), style="console")
        log.info("x", name="Bjørn 😀")
        written = raw.getvalue().decode("ascii")
    assert r"Bj\xf8rn" in written


def test_what_is_logged_before_logging_is_set_up_is_masked_too() -> None:
    program = """
from gaby.kernel.log import get_log
get_log("early").info("quiet")
get_log("early").error("loud", password="hunter2")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert json.loads(done.stderr)["payload"]["password"] == "***"
