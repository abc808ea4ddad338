"""Files made to break the verifier: always findings or a clear error, never a traceback, never much memory."""

import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.audit.errors import Malformed
from gaby.audit.findings import FindingKind
from gaby.audit.line_reader import parse, read_lines
from gaby.audit.statements import Checkpoint, KeyEntry, KeyRotation, understand
from gaby.audit.verify import verify_file
from gaby.kernel.errors import BadRequest
from tests.audit.logs import ACME, busy_log, names, report_of

pytestmark = pytest.mark.promise("A4")

SMALL = busy_log(30)
LINES = SMALL.export()
ANCHORS = SMALL.anchors


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_random_lines_are_findings(lines: list[bytes]) -> None:
    assert not report_of(lines).ok
    assert not report_of([LINES[0], *lines]).ok


@given(st.binary(max_size=2000))
def test_random_anchors_are_findings(data: bytes) -> None:
    report = report_of(LINES, anchors=read_lines(io.BytesIO(data)))
    assert "anchors_missing" in names(report)
    assert ("malformed" in names(report)) is (b"\n" in data)


@given(st.data())
def test_one_changed_byte_anywhere_in_the_file_never_breaks_the_verifier(data: st.DataObject) -> None:
    content = bytearray(b"".join(LINES))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[at]))
    assert not report_of(read_lines(io.BytesIO(bytes(content)))).ok


@given(st.integers(0, sum(map(len, LINES)) - 1))
def test_a_file_cut_anywhere_is_noticed(length: int) -> None:
    assert not report_of(read_lines(io.BytesIO(b"".join(LINES)[:length]))).ok


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(ANYTHING)
def test_values_of_the_wrong_type_are_malformed(value: object) -> None:
    for model in (Checkpoint, KeyRotation, KeyEntry):
        with pytest.raises(Malformed):
            understand(model, value)


@pytest.mark.parametrize(
    "line",
    [
        b'{"checkpoint":' + b"[" * 100_000 + b"\n",
        b'{"checkpoint":null}\n',
        b'{"checkpoint":{"workspace_id":5,"size":-1,"root":"zz","ts":[],"key_id":{},"signature":"="}}\n',
        b'{"log":"00000000-0000-0000-0000-000000000ACE"}\n',
        b'{"log":[[[]]]}\n',
        b'{"end":"soon"}\n',
        b'{"hash":"","row":{}}\n',
        b'{"hash":"' + b"\xff" * 64 + b'","row":{}}\n',
        b'{"hash":"' + b"0" * 64 + b'","row":' + b'{"a":' * 5000 + b"}}\n",
        b"\x00\n",
        b"\n",
        b'"' + b"\\" * 10_000 + b"\n",
    ],
)
def test_strange_lines_are_findings(line: bytes) -> None:
    for at in (0, 1, 3, len(LINES)):
        assert not report_of([*LINES[:at], line, *LINES[at:]]).ok


def test_a_header_with_a_million_entries_is_refused() -> None:
    header = LINES[0].replace(b'"logs":[', b'"logs":[' + b'{"size":1,"workspace_id":"x"},' * 100_000)
    assert FindingKind.MALFORMED in report_of([header, *LINES[1:]]).kinds()


def test_a_line_without_end_is_read_in_pieces_and_dropped() -> None:
    huge = io.BytesIO(b"x" * 50_000_000 + b"\nnext\n")
    tracemalloc.start()
    sizes = [len(line) for line in read_lines(huge, limit=1_000_000)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sizes == [1_000_000, 5]
    assert peak < 5_000_000


def test_a_line_exactly_as_long_as_the_limit_is_not_swallowed() -> None:
    assert list(read_lines(io.BytesIO(b"abcd\nef\n"), limit=5)) == [b"abcd\n", b"ef\n"]
    assert list(read_lines(io.BytesIO(b"abcde\nef\n"), limit=5)) == [b"abcde", b"ef\n"]
    assert list(read_lines(io.BytesIO(b"abcde"), limit=5)) == [b"abcde"]


def test_a_row_line_of_many_megabytes_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(LINES[0] + LINES[1] + b'{"hash":"' + b"0" * 20_000_000 + b"\n" + b"".join(LINES[2:]))
    report = verify_file(path)
    assert names(report) == {"row_altered", "truncated"}
    assert report.findings[0].workspace_id == ACME


def test_a_file_that_is_not_there_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be read"):
        verify_file(tmp_path / "nothing")
    with pytest.raises(BadRequest, match="cannot be read"):
        verify_file(tmp_path)


def test_an_empty_file_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    assert names(verify_file(path)) == {"truncated"}


def test_an_export_and_its_anchors_are_verified_from_files(tmp_path: Path) -> None:
    (tmp_path / "export").write_bytes(b"".join(LINES))
    (tmp_path / "anchors").write_bytes(b"".join(ANCHORS))
    report = verify_file(tmp_path / "export", anchors=tmp_path / "anchors", trusted=SMALL.key.id)
    assert report.ok
    assert report.anchors == len(ANCHORS)


def test_json_too_deep_to_read_is_malformed() -> None:
    with pytest.raises(Malformed):
        parse(b"[" * 1_000_000)
