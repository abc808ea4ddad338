"""The second look: it agrees with a good export, and never says yes to a bad one."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from gaby.audit.export import CHECKPOINT_START
from gaby.audit.parallel_verify import WORTH_IT, trees_hold
from tests.audit.logs import ACME, BYTE, busy_log, row_line_at

pytestmark = pytest.mark.promise("A4")

LOG = busy_log()
LINES = LOG.export()


def _first_checkpoint(lines: list[bytes]) -> int:
    return next(at for at, line in enumerate(lines) if line.startswith(CHECKPOINT_START))


def _root_changed(lines: list[bytes]) -> None:
    at = _first_checkpoint(lines)
    value = orjson.loads(lines[at])
    value["checkpoint"]["root"] = value["checkpoint"]["root"][::-1]
    lines[at] = orjson.dumps(value, option=orjson.OPT_SORT_KEYS) + b"\n"


def _hash_changed(lines: list[bytes]) -> None:
    at = row_line_at(lines, ACME, 3)
    lines[at] = lines[at].replace(lines[at][9:19], b"0123456789", 1)


def _row_dropped(lines: list[bytes]) -> None:
    del lines[row_line_at(lines, BYTE, 5)]


def _moved_checkpoint(lines: list[bytes]) -> None:
    line = lines.pop(_first_checkpoint(lines))
    lines.insert(2, line)


TAMPERINGS: dict[str, Callable[[list[bytes]], None]] = {
    "root changed": _root_changed,
    "hash changed": _hash_changed,
    "row dropped": _row_dropped,
    "checkpoint moved": _moved_checkpoint,
}


def test_it_says_yes_to_a_good_export() -> None:
    assert trees_hold([LINES], None)
    assert trees_hold([LINES[:7], LINES[7:]], LOG.keys()[0].key_id)


def test_it_says_no_when_the_key_is_not_the_trusted_one() -> None:
    assert not trees_hold([LINES], "0" * 16)


@pytest.mark.parametrize("name", TAMPERINGS)
def test_it_says_no_to_a_tampered_export(name: str) -> None:
    lines = list(LINES)
    TAMPERINGS[name](lines)
    assert not trees_hold([lines], None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        *(pytest.param(name, marks=() if name == "row dropped" else pytest.mark.exhaustive) for name in TAMPERINGS),
    ],
)
def test_a_large_export_is_verified_by_two_processes_with_the_same_words(name: str, tmp_path: Path) -> None:
    lines = busy_log(int(WORTH_IT / 380)).export()
    if name != "nothing":
        TAMPERINGS[name](lines)
    export = tmp_path / "large.jsonl"
    export.write_bytes(b"".join(lines))
    assert export.stat().st_size > WORTH_IT
    command = [sys.executable, "-m", "gaby", "audit", "verify", str(export), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    report = orjson.loads(done.stdout)
    assert (done.returncode, report["ok"]) == ((0, True) if name == "nothing" else (1, False)), done.stderr
    expected = {
        "nothing": set[str](),
        "root changed": {"checkpoint_forged"},
        "hash changed": {"row_altered"},
        "row dropped": {"row_missing", "truncated"},
        "checkpoint moved": {"checkpoint_mismatch"},
    }
    assert expected[name] <= {finding["kind"] for finding in report["findings"]}
