"""Rows that nobody vouches for are told, however consistent they are among themselves."""

from datetime import timedelta

import pytest

from gaby.audit.export import CHECKPOINT_START, ROW_START
from gaby.audit.findings import FindingKind
from tests.audit.logs import ACME, MemoryLog, names, places_of, report_of

pytestmark = pytest.mark.promise("A3", "A4")


def _signed_log(word: str) -> MemoryLog:
    log = MemoryLog()
    for number in range(30):
        log.append(ACME, payload=f'{{"{word}":{number}}}')
        if number % 10 == 9:
            log.checkpoint_all()
    log.now += timedelta(hours=1)
    return log


def test_a_rewritten_log_is_not_saved_by_moving_its_checkpoints_to_the_front() -> None:
    honest, forged = _signed_log("honest").export(only=ACME), _signed_log("forged").export(only=ACME)
    header, log_line, *rest = honest
    checkpoints = [line for line in rest if line.startswith(CHECKPOINT_START)]
    rows = [line for line in forged if line.startswith(ROW_START)]
    report = report_of([header, log_line, *checkpoints, *rows, honest[-1]])
    assert FindingKind.CHECKPOINT_MISMATCH in {finding.kind for finding in report.findings}


def test_a_log_without_any_checkpoint_proves_nothing() -> None:
    lines = [line for line in _signed_log("honest").export(only=ACME) if not line.startswith(CHECKPOINT_START)]
    assert FindingKind.CHECKPOINT_MISSING in {finding.kind for finding in report_of(lines).findings}


def test_an_old_tail_that_was_never_signed_is_told_with_its_first_row() -> None:
    log = _signed_log("honest")
    log.append(ACME)
    log.now += timedelta(hours=1)
    report = report_of(log.export(only=ACME))
    assert places_of(report, FindingKind.CHECKPOINT_MISSING) == {(ACME, 30)}
    assert report.unsigned_rows == 1


def test_a_tail_of_the_last_minutes_is_only_counted() -> None:
    log = _signed_log("honest")
    log.append(ACME)
    log.now += timedelta(minutes=5)
    report = report_of(log.export(only=ACME))
    assert (names(report), report.unsigned_rows) == (set(), 1)
