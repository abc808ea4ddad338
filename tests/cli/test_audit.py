"""The audit log from the command line, also by somebody who has only a file."""

import json
import os
from pathlib import Path
from uuid import uuid4

import pytest

from gaby.audit import FindingKind, VerificationReport
from gaby.audit.notes import WITNESS_KEY, VerifierKey
from gaby.audit.signing_key import SigningKey
from gaby.audit.witness_comparison import WitnessedRoot
from gaby.cli.audit import print_report
from gaby.cli.witness_queries import WitnessAnswers
from gaby.kernel.database import open_database
from tests.audit.tampering import tamper
from tests.support.command import Shell


@pytest.fixture
def busy(shell: Shell) -> Shell:
    """A log with some rows and a checkpoint over them."""
    shell("workspace", "create", "acme")
    for number in range(3):
        shell("key", "create", f"key {number}", "--scope", "audit:read")
    assert shell("audit", "checkpoint").code == 0
    return shell


@pytest.mark.promise("A3", "A4")
def test_the_log_of_the_database_verifies(busy: Shell) -> None:
    report = busy("audit", "verify", "--json")
    assert report.code == 0
    assert report.json()["ok"] is True
    assert report.json()["rows"] >= 4
    assert "The log is whole." in busy("audit", "verify").out


@pytest.mark.promise("A4")
def test_an_export_verifies_without_the_database_or_the_keys(
    busy: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = tmp_path / "log.jsonl"
    assert busy("audit", "export", "--all", "--output", str(export)).code == 0
    monkeypatch.setenv("GABY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    monkeypatch.setenv("GABY_HOME", str(tmp_path / "elsewhere"))
    assert busy("audit", "verify", str(export)).code == 0

    rows = export.read_bytes().splitlines(keepends=True)
    altered = tmp_path / "altered.jsonl"
    altered.write_bytes(b"".join(rows).replace(b"key 1", b"key 9").replace(b"key.created", b"key.revoked", 1))
    report = busy("audit", "verify", str(altered), "--json")
    assert report.code == 1
    assert "row_altered" in {finding["kind"] for finding in report.json()["findings"]}
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.promise("A4")
def test_a_row_is_proven_and_a_forged_proof_is_refused(busy: Shell, tmp_path: Path) -> None:
    exported = busy("audit", "export", "--format", "jsonl").out.splitlines()
    row = next(json.loads(line)["row"] for line in exported if '"key.created"' in line)
    proof = busy("audit", "prove", row["id"])
    assert proof.code == 0, proof.err
    assert len(proof.out) < 2048
    file = tmp_path / "proof.json"
    file.write_text(proof.out)
    assert "is in the signed log" in busy("audit", "verify", str(file)).out

    file.write_text(proof.out.replace("key.created", "key.revoked"))
    forged = busy("audit", "verify", str(file))
    assert forged.code != 0
    assert "Traceback" not in forged.err
    assert busy("audit", "prove", str(uuid4())).code == 4
    assert busy("audit", "prove", "not-an-id").code == 2
    assert busy("audit", "prove").code == 2


@pytest.mark.promise("A4")
def test_an_older_log_is_proven_to_be_the_beginning_of_a_newer_one(busy: Shell, tmp_path: Path) -> None:
    older = busy("audit", "verify", "--json").json()["rows"]
    sizes = [_size(busy)]
    busy("key", "create", "one more", "--scope", "audit:read")
    busy("audit", "checkpoint")
    sizes.append(_size(busy))
    proof = busy("audit", "prove", "--from", str(sizes[0]), "--to", str(sizes[1]))
    assert proof.code == 0, proof.err
    file = tmp_path / "proof.json"
    file.write_text(proof.out)
    assert "is the beginning of" in busy("audit", "verify", str(file)).out
    assert older < busy("audit", "verify", "--json").json()["rows"]


def _size(shell: Shell) -> int:
    lines = [json.loads(line) for line in shell("audit", "export").out.splitlines()]
    return sum("row" in line for line in lines)


@pytest.mark.promise("A5")
def test_rows_leave_as_syslog_too(busy: Shell) -> None:
    lines = busy("audit", "export", "--format", "syslog").out.splitlines()
    assert len(lines) >= 3
    assert all(line.startswith("<110>1 ") and "gaby@32473" in line for line in lines)


@pytest.mark.promise("A3")
def test_a_new_signing_key_takes_over_and_the_whole_log_still_verifies(busy: Shell) -> None:
    first = busy("audit", "verify", "--json").json()["keys"]
    assert busy("audit", "rotate-key").code == 0
    busy("key", "create", "after", "--scope", "audit:read")
    busy("audit", "checkpoint")
    report = busy("audit", "verify", "--trusted", first[0], "--json")
    assert report.code == 0
    assert len(report.json()["keys"]) == 2
    assert busy("audit", "verify", "--trusted", "0" * 16).code == 1


@pytest.mark.promise("A6")
def test_a_shredded_subject_cannot_be_read_and_the_proofs_still_hold(shell: Shell) -> None:
    shell("workspace", "create", "acme")
    shell("user", "add", "ada@acme.example", "--password-stdin", stdin="correct horse battery\n")
    person = shell("user", "list", "--json").json()[0]["id"]
    shell("audit", "checkpoint")
    before = shell("audit", "export", "--all").out
    assert "ada@acme.example" not in before
    assert shell("encryption", "shred", f"person:{person}", "--yes").code == 0
    assert shell("encryption", "shred", f"person:{person}", "--yes").code == 4
    assert shell("audit", "verify").code == 0


def test_bad_arguments_get_a_sentence(busy: Shell, tmp_path: Path) -> None:
    assert busy("audit", "verify", str(tmp_path / "missing.jsonl")).code == 4
    assert busy("audit", "export", "--webhook", "http://127.0.0.1:9/x").code == 2
    assert busy("audit", "export", "--format", "syslog", "--output", str(tmp_path / "x")).code == 2
    assert busy("audit", "export", "--cursor", str(tmp_path / "x")).code == 2
    taken = tmp_path / "taken.jsonl"
    taken.write_text("")
    assert busy("audit", "export", "--output", str(taken)).code == 2
    empty = busy("audit", "verify", str(taken))
    assert empty.code == 1
    assert "Traceback" not in empty.err


def _kinds(shell: Shell, *options: str) -> set[str]:
    report = shell("audit", "verify", "--json", *options)
    kinds = {finding["kind"] for finding in report.json()["findings"]}
    assert report.code == (1 if kinds else 0)
    return kinds


@pytest.mark.promise("A3", "A4")
def test_lost_anchors_are_found_and_begin_anew_with_a_reason(busy: Shell) -> None:
    home = Path(os.environ["GABY_HOME"])
    assert _kinds(busy) == set()
    (home / "anchors.jsonl").unlink()
    assert _kinds(busy) == {"anchors_missing"}
    assert busy("audit", "restart-anchors", "--reason", "the disk broke").code == 0
    assert _kinds(busy) == set()
    assert busy("audit", "restart-anchors", "--reason", "once more").code == 0
    assert len(list(home.glob("anchors-until-*.jsonl"))) == 1
    assert "the disk broke" in busy("audit", "export", "--all").out


@pytest.mark.promise("A3", "A4")
def test_pinned_keys_are_printed_and_trusted_again_by_their_id(busy: Shell, tmp_path: Path) -> None:
    home = Path(os.environ["GABY_HOME"])
    pins = home / "anchors.keys.json"
    key_id = busy("audit", "verify", "--json").json()["keys"][0]
    copy = tmp_path / "keys.json"
    copy.write_text(busy("audit", "keys").out)
    assert copy.read_bytes() == pins.read_bytes()
    export = tmp_path / "log.jsonl"
    assert busy("audit", "export", "--all", "--output", str(export)).code == 0
    assert busy("audit", "verify", str(export), "--pins", str(copy)).code == 0
    pins.unlink()
    assert _kinds(busy) == {"key_unpinned"}
    assert busy("audit", "keys").code == 4
    assert busy("audit", "trust", "0" * 16).code == 2
    assert not pins.exists()
    assert busy("audit", "trust", key_id).code == 0
    assert _kinds(busy) == set()
    copy.write_text("{}")
    assert busy("audit", "verify", str(export), "--pins", str(copy)).code not in {0, 1}
    assert busy("audit", "keys", "--log").out.startswith(f"gaby.audit/{key_id}+")


@pytest.mark.promise("A3", "A4")
def test_a_witness_that_cannot_be_asked_is_told_apart_from_a_damaged_log(busy: Shell, tmp_path: Path) -> None:
    key = "witness.example/w1+" + busy("audit", "keys", "--log").out.partition("+")[2].strip()
    assert busy("audit", "verify", "--witness", "http://127.0.0.1:9").code == 2
    assert busy("audit", "verify", "--witness", "http://127.0.0.1:9", "--witness-key", key).code == 2
    good = str(VerifierKey("witness.example/w1", WITNESS_KEY, SigningKey.generate().public_key))
    options = ("--witness", "http://127.0.0.1:9", "--witness-key", good)
    export = tmp_path / "log.jsonl"
    assert busy("audit", "export", "--all", "--output", str(export)).code == 0
    for place in ((), (str(export),)):
        told = busy("audit", "verify", *place, *options)
        assert told.code == 6
        assert "Witness witness.example/w1 could not be asked: " in told.out
        assert "The log is whole." in told.out
        assert "The log verifies, but not every witness could be asked" in told.err
        assert "does not verify" not in told.err
        counted = busy("audit", "verify", *place, *options, "--json").json()
        assert (counted["ok"], counted["findings"], counted["witnesses_agree"]) == (True, [], [])
        assert len(counted["witnesses_not_asked"]) == 1


@pytest.mark.promise("A3", "A4")
def test_witnesses_that_agree_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = WitnessedRoot(7, b"r", "w1", 0), WitnessedRoot(7, b"r", "w2", 0)
    for seen, told in (([one], "1 witness agrees."), ([one, two], "2 witnesses agree.")):
        report = VerificationReport(agreeing={"w1", "w2", "kept beside the log"})
        WitnessAnswers(seen).add_to(report)
        print_report(report, as_json=False)
        assert told in capsys.readouterr().out
        print_report(report, as_json=True)
        assert json.loads(capsys.readouterr().out)["witnesses_agree"] == [each.witness for each in seen]
    report = VerificationReport()
    WitnessAnswers(unusable=["Witness w1 has seen nothing of it."]).add_to(report)
    assert report.kinds() == {FindingKind.WITNESS_UNCHECKED}


@pytest.mark.promise("A4")
def test_the_tree_is_made_anew_on_command(busy: Shell, database_url: str) -> None:
    tamper(open_database(database_url), "DELETE FROM audit_tiles")
    assert _kinds(busy) == {"tree_damaged"}
    assert busy("audit", "rebuild-tree").code == 0
    assert _kinds(busy) == set()
