"""An export of a thousand rows: whatever is done to it is found, and called by its name."""

from collections.abc import Callable

import orjson
import pytest

from gaby.audit.canonical import canonical
from gaby.audit.export import checkpoint_line, row_line
from gaby.audit.findings import MAX_FINDINGS, FindingKind
from gaby.audit.rows import row_hash
from gaby.audit.signing_key import SigningKey
from gaby.audit.statements import sign_checkpoint
from gaby.kernel.ids import SYSTEM, WorkspaceId
from tests.audit.logs import ACME, BYTE, COPA, MemoryLog, busy_log, names, places_of, report_of, row_line_at

pytestmark = [pytest.mark.promise("A3", "A4")]


@pytest.fixture(scope="module")
def log() -> MemoryLog:
    return busy_log()


@pytest.fixture
def lines(log: MemoryLog) -> list[bytes]:
    return log.export()


def test_an_untouched_export_is_whole(log: MemoryLog, lines: list[bytes]) -> None:
    report = report_of(lines, anchors=log.anchors, trusted=log.key.id)
    assert report.findings == []
    assert report.ok
    assert report.rows == sum(map(len, log.by_workspace.values())) > 1000
    assert report.checkpoints == sum(map(len, log.signed.values()))
    assert report.anchors == len(log.anchors)
    assert report.unsigned_rows == 0
    assert report.as_dict()["ok"] is True


def test_one_workspace_alone_can_be_exported_and_verified(log: MemoryLog) -> None:
    report = report_of(log.export(only=ACME))
    assert report.ok
    assert report.rows == len(log.rows(ACME))


def test_rows_after_the_last_checkpoint_are_counted_as_unsigned(log: MemoryLog) -> None:
    young = busy_log(20)
    young.append(ACME)
    report = report_of(young.export())
    assert report.ok
    assert report.unsigned_rows == 1


@pytest.mark.parametrize(("workspace", "seq"), [(ACME, 1), (BYTE, 8), (COPA, 0), (SYSTEM, 3)])
def test_every_flipped_byte_of_a_row_is_found(lines: list[bytes], workspace: WorkspaceId, seq: int) -> None:
    at = row_line_at(lines, workspace, seq)
    start = lines.index(b'{"log":"%b"}\n' % str(workspace).encode())
    # The section alone is enough here and keeps the test quick; the rest is said to be missing in each run alike.
    head, section = lines[0], lines[start : at + 3]
    for position in range(len(lines[at])):
        line = bytearray(lines[at])
        line[position] ^= 1 << (position + seq) * 5 % 8
        broken = [head, *section[: at - start], *bytes(line).splitlines(keepends=True), *section[at - start + 1 :]]
        report = report_of(broken)
        here = {f.kind for f in report.findings if f.workspace_id == workspace and f.kind != FindingKind.TAIL_MISSING}
        assert here & {FindingKind.ROW_ALTERED, FindingKind.MALFORMED}, (position, bytes(line))
        assert not here & {FindingKind.ROW_REORDERED, FindingKind.ROW_DUPLICATED, FindingKind.ROW_MOVED}


def test_a_flipped_byte_is_named_with_its_row(lines: list[bytes]) -> None:
    at = row_line_at(lines, BYTE, 100)
    lines[at] = lines[at].replace(b'"agent"', b'"user"')
    report = report_of(lines)
    assert places_of(report, FindingKind.ROW_ALTERED) == {(BYTE, 100)}
    assert names(report) == {"row_altered"}


def test_a_row_rewritten_with_its_own_new_hash_is_found_by_the_next(log: MemoryLog, lines: list[bytes]) -> None:
    row = log.rows(BYTE)[100]
    forged = row._replace(payload='{"n":0}')
    forged = forged._replace(hash=row_hash(forged.prev_hash, forged.canonical()))
    lines[row_line_at(lines, BYTE, 100)] = row_line(forged)
    report = report_of(lines)
    assert places_of(report, FindingKind.ROW_ALTERED) == {(BYTE, 101)}
    assert names(report) == {"row_altered"}


def test_a_chain_rewritten_to_its_end_contradicts_its_checkpoint(log: MemoryLog) -> None:
    forged = MemoryLog()
    forged.key, forged.entries, forged.signed = log.key, log.entries, log.signed
    for row in log.rows(ACME):
        forged.append(ACME, payload='{"n":0}' if row.seq == 7 else row.payload)
    report = report_of(forged.export())
    assert "checkpoint_mismatch" in names(report)


@pytest.mark.parametrize("seq", [0, 1, 41, 200])
def test_a_deleted_row_is_missing(lines: list[bytes], seq: int) -> None:
    del lines[row_line_at(lines, ACME, seq)]
    report = report_of(lines)
    assert places_of(report, FindingKind.ROW_MISSING) == {(ACME, seq)}
    assert names(report) == {"row_missing", "truncated"}


def test_every_single_deleted_row_is_found() -> None:
    small = busy_log(60).export()
    for at, line in enumerate(small):
        if line.startswith(b'{"hash"'):
            assert not report_of(small[:at] + small[at + 1 :]).ok


def test_a_deleted_stretch_is_one_finding(lines: list[bytes]) -> None:
    gone = {row_line_at(lines, COPA, seq) for seq in range(10, 20)}
    report = report_of([line for at, line in enumerate(lines) if at not in gone])
    assert places_of(report, FindingKind.ROW_MISSING) == {(COPA, 10)}
    assert "Rows 10 to 19 are missing." in [finding.text for finding in report.findings]


def test_a_deleted_tail_is_named_so(log: MemoryLog, lines: list[bytes]) -> None:
    last = len(log.rows(ACME)) - 1
    gone = {row_line_at(lines, ACME, seq) for seq in range(last - 4, last + 1)}
    report = report_of([line for at, line in enumerate(lines) if at not in gone])
    assert places_of(report, FindingKind.TAIL_MISSING) == {(ACME, last - 4)}


def test_a_tail_deleted_with_all_traces_in_its_workspace_is_told_by_the_system_log(log: MemoryLog) -> None:
    cut = busy_log(300)
    del cut.by_workspace[ACME][100:]
    cut.signed[ACME] = [checkpoint for checkpoint in cut.signed[ACME] if checkpoint.size <= 100]
    report = report_of(cut.export())
    assert places_of(report, FindingKind.TAIL_MISSING) == {(ACME, 100)}


def test_two_swapped_rows_are_reordered(lines: list[bytes]) -> None:
    one, other = row_line_at(lines, ACME, 50), row_line_at(lines, ACME, 51)
    lines[one], lines[other] = lines[other], lines[one]
    report = report_of(lines)
    assert places_of(report, FindingKind.ROW_REORDERED) == {(ACME, 50)}
    assert names(report) == {"row_reordered"}


def test_a_row_carried_far_away_is_reordered(lines: list[bytes]) -> None:
    line = lines.pop(row_line_at(lines, ACME, 10))
    lines.insert(row_line_at(lines, ACME, 140) + 1, line)
    report = report_of(lines)
    assert places_of(report, FindingKind.ROW_REORDERED) == {(ACME, 10)}
    assert "row_missing" not in names(report)


def test_a_row_written_twice_is_duplicated(lines: list[bytes]) -> None:
    at = row_line_at(lines, COPA, 33)
    lines.insert(at, lines[at])
    report = report_of(lines)
    assert places_of(report, FindingKind.ROW_DUPLICATED) == {(COPA, 33)}
    assert names(report) == {"row_duplicated", "truncated"}


def test_a_row_cut_out_of_one_workspace_and_put_into_another_is_moved(lines: list[bytes]) -> None:
    line = lines.pop(row_line_at(lines, ACME, 20))
    lines.insert(row_line_at(lines, BYTE, 20) + 1, line)
    report = report_of(lines)
    assert places_of(report, FindingKind.ROW_MOVED) == {(BYTE, 21)}
    assert places_of(report, FindingKind.ROW_MISSING) == {(ACME, 20)}


def test_a_row_whose_workspace_was_rewritten_is_moved(log: MemoryLog, lines: list[bytes]) -> None:
    row = log.rows(COPA)[21]._replace(workspace=BYTE.hex)
    lines[row_line_at(lines, BYTE, 21)] = row_line(row)
    assert places_of(report_of(lines), FindingKind.ROW_MOVED) == {(BYTE, 21)}


def test_a_whole_workspace_left_out_is_missed(log: MemoryLog) -> None:
    cut = busy_log(300)
    del cut.by_workspace[COPA]
    assert places_of(report_of(cut.export()), FindingKind.WORKSPACE_MISSING) == {(COPA, None)}


def test_a_section_cut_out_of_the_file_is_missed(lines: list[bytes]) -> None:
    start, end = (lines.index(b'{"log":"%b"}\n' % str(each).encode()) for each in (BYTE, COPA))
    assert (BYTE, None) in places_of(report_of(lines[:start] + lines[end:]), FindingKind.WORKSPACE_MISSING)


def test_an_old_backup_is_told_by_the_anchors() -> None:
    running = busy_log(150)
    backup = running.export()
    for _ in range(200):
        running.append(ACME)
    running.checkpoint_all()
    assert report_of(backup).ok
    report = report_of(backup, anchors=running.anchors)
    assert names(report) == {"rolled_back"}
    assert report_of(running.export(), anchors=running.anchors).ok


def test_a_log_that_went_on_from_an_old_backup_is_told_by_the_anchors() -> None:
    running = busy_log(150)
    before = list(running.anchors)
    other = MemoryLog()
    other.key, other.entries = running.key, running.entries
    for workspace_id, rows in running.by_workspace.items():
        for row in rows[:-1]:
            other.append(workspace_id, row.event, row.payload)
    other.checkpoint(SYSTEM)
    report = report_of(running.export(), anchors=[*before, *other.anchors, *running.anchors[-1:]])
    assert names(report) == {"rolled_back"}


def test_a_system_log_rewritten_under_the_anchors_is_told() -> None:
    log = busy_log(150)
    twin = busy_log(150)
    twin.key, twin.entries = log.key, log.entries
    twin.signed = {}
    report = report_of(twin.export(), anchors=log.anchors)
    assert "anchor_mismatch" in names(report)


def test_anchors_without_a_system_log_are_not_passed_over(log: MemoryLog) -> None:
    assert names(report_of(log.export(only=ACME), anchors=log.anchors)) == {"anchor_unchecked"}


def test_a_forged_checkpoint_is_named(log: MemoryLog, lines: list[bytes]) -> None:
    genuine = log.signed[ACME][0]
    forged = genuine.model_copy(update={"root": bytes(32)})
    lines[lines.index(checkpoint_line(genuine))] = checkpoint_line(forged)
    report = report_of(lines)
    assert places_of(report, FindingKind.CHECKPOINT_FORGED) == {(ACME, None)}


def test_a_checkpoint_signed_by_a_stranger_is_named(log: MemoryLog, lines: list[bytes]) -> None:
    genuine = log.signed[ACME][0]
    forged = sign_checkpoint(SigningKey.generate(), ACME, genuine.size, genuine.root, genuine.ts)
    lines[lines.index(checkpoint_line(genuine))] = checkpoint_line(forged)
    assert places_of(report_of(lines), FindingKind.KEY_UNKNOWN) == {(ACME, None)}


def test_a_removed_checkpoint_is_missed_by_the_system_log(log: MemoryLog, lines: list[bytes]) -> None:
    lines.remove(checkpoint_line(log.signed[ACME][1]))
    report = report_of(lines)
    assert places_of(report, FindingKind.CHECKPOINT_MISSING) == {(ACME, None)}


def test_a_checkpoint_of_another_workspace_does_not_pass(log: MemoryLog, lines: list[bytes]) -> None:
    genuine = log.signed[ACME][0]
    lines[lines.index(checkpoint_line(genuine))] = checkpoint_line(log.signed[BYTE][0])
    assert (ACME, None) in places_of(report_of(lines), FindingKind.CHECKPOINT_MISMATCH)


def test_a_checkpoint_the_system_log_never_heard_of_does_not_pass(log: MemoryLog) -> None:
    odd = busy_log(160)
    rows = len(odd.rows(ACME))
    twin = odd.signed[ACME][-1]
    extra = sign_checkpoint(odd.key, ACME, rows, twin.root, twin.ts[:-2] + "9Z")
    odd.signed[ACME].append(extra)
    assert places_of(report_of(odd.export()), FindingKind.CHECKPOINT_MISMATCH) == {(ACME, None)}


def test_the_key_you_trust_must_have_signed(log: MemoryLog, lines: list[bytes]) -> None:
    assert report_of(lines, trusted=log.key.public_key.hex()).ok
    assert "key_unknown" in names(report_of(lines, trusted=SigningKey.generate().id))


def test_trust_reaches_over_a_rotation_in_both_directions() -> None:
    log = busy_log(200)
    first = log.key
    log.rotate()
    log.append(ACME)
    log.checkpoint_all()
    for trusted in (first.id, log.key.id):
        assert report_of(log.export(), anchors=log.anchors, trusted=trusted).ok


def test_a_retired_key_signs_no_more() -> None:
    log = busy_log(200)
    retired = log.key
    log.rotate()
    log.append(ACME)
    log.checkpoint_all()
    log.key = retired
    log.append(ACME)
    log.checkpoint_all()
    assert names(report_of(log.export())) == {"checkpoint_forged"}


def test_a_key_that_came_without_both_signatures_is_unknown() -> None:
    log = busy_log(50)
    log.rotate()
    rotation = log.entries[1].rotation
    assert rotation is not None
    for change in ({"old_signature": bytes(64)}, {"new_signature": bytes(64)}, {"ts": "2031-01-01T00:00:00.000000Z"}):
        forged = log.entries[1].model_copy(update={"rotation": rotation.model_copy(update=change)})
        other = busy_log(20)
        other.key, other.entries = log.key, [log.entries[0], forged]
        assert "key_unknown" in names(report_of(other.export()))


def _without_end(lines: list[bytes]) -> list[bytes]:
    return lines[:-1]


def _cut_in_the_middle(lines: list[bytes]) -> list[bytes]:
    return [*lines[:400], lines[400][:100]]


def _wrong_count(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1].replace(b'"rows":1', b'"rows":2')]


@pytest.mark.parametrize("cut", [_without_end, _cut_in_the_middle, _wrong_count])
def test_a_file_that_was_cut_off_is_truncated(lines: list[bytes], cut: Callable[[list[bytes]], list[bytes]]) -> None:
    assert "truncated" in names(report_of(cut(lines)))


def test_time_that_goes_back_is_named() -> None:
    log = MemoryLog()
    log.append(ACME)
    row = log.append(ACME)._replace(ts="2024-01-01T00:00:00.000000Z")
    log.by_workspace[ACME][1] = row._replace(hash=row_hash(row.prev_hash, row.canonical()))
    assert names(report_of(log.export())) == {"time_reversed"}


def test_a_key_twice_in_a_row_is_malformed_even_with_the_right_hash(log: MemoryLog) -> None:
    tail = MemoryLog()
    row = tail.append(ACME)
    raw = row.canonical().replace(b'{"tool":"crm"}', b'{"tool":"crm","tool":"crm"}')
    lines = tail.export()
    lines[2] = b'{"hash":"%b","row":%b}\n' % (row_hash(row.prev_hash, raw).hex().encode(), raw)
    assert names(report_of(lines)) == {"malformed"}


def test_no_payload_can_lend_its_brackets_to_the_next() -> None:
    """Rows are checked in runs; a run of broken payloads must not add up to a good one."""
    log = MemoryLog()
    for payload in ('{"a":[{"x":1}', '{"y":2}]}', '{"a":1},{"b":2}'):
        log.append(ACME, payload=payload)
    report = report_of(log.export())
    assert report.finding_count == 3


def test_only_so_many_findings_are_kept_but_all_are_counted() -> None:
    log = busy_log(2500)
    lines = [line.replace(b'"agent"', b'"user"') for line in log.export()]
    report = report_of(lines)
    assert len(report.findings) == MAX_FINDINGS
    assert report.finding_count > 2400


def test_the_report_can_be_written_as_json(lines: list[bytes]) -> None:
    del lines[row_line_at(lines, ACME, 3)]
    written = orjson.loads(canonical(report_of(lines).as_dict()))
    assert written["findings"][0] == {
        "kind": "row_missing",
        "seq": 3,
        "text": "Row 3 is missing.",
        "workspace": str(ACME),
    }
