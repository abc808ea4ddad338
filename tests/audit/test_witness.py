"""A witness in a process of its own: it signs honest growth, and tells a rollback of everything else together."""

import asyncio
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import httpx2
import orjson
import pytest
from prometheus_client import CollectorRegistry

from gaby.audit import (
    AnchorFile,
    Anchors,
    Appender,
    AuditLog,
    Checkpointer,
    CheckpointTaker,
    CosignatureFile,
    ExternalEvidence,
    KeyFile,
    VerificationReport,
    Witnesses,
    WitnessSilent,
    WitnessUnreachable,
    ask_witness,
    parse_witnesses,
    snapshot,
    verify_live,
)
from gaby.audit.canonical import canonical
from gaby.audit.merkle import Accumulator
from gaby.audit.notes import checkpoint_body, log_keys, origin_of, sign_note
from gaby.audit.signing_key import SigningKey, load
from gaby.audit.witness_client import WitnessAddress
from gaby.kernel.actors import system_actor
from gaby.kernel.clock import ManualClock
from gaby.kernel.database import Database
from gaby.kernel.errors import Misconfigured
from gaby.kernel.metrics import Metrics
from tests.audit.logs import ACME, names
from tests.audit.tampering import tamper

pytestmark = pytest.mark.promise("A3", "A4")

ACTOR = system_actor("test")
NAME = "witness.example/w1"


class WitnessProcess:
    """`gaby audit witness` as somebody would run it on another machine."""

    def __init__(self, folder: Path, log_key: str) -> None:
        self.folder = folder
        self._log_key = log_key
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self.key = ""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        options = ["--log", self._log_key, "--name", NAME, "--folder", str(self.folder), "--port", str(self._port)]
        command = [sys.executable, "-m", "gaby", "audit", "witness", *options]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.key = self._process.stdout.readline().strip()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process.poll() is None:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.05)
        self.kill()
        raise AssertionError("the witness did not start")

    def kill(self) -> str:
        """At once, as a power cut would; what it said."""
        if self._process is None:
            return ""
        self._process.kill()
        _, said = self._process.communicate()
        self._process = None
        return said

    @property
    def address(self) -> WitnessAddress:
        (address,) = parse_witnesses(f"{self.url} {self.key}")
        return address


@pytest.fixture
async def signed(db: Database, audit: AuditLog, checkpointer: Checkpointer) -> Database:
    await audit.append(ACME, ACTOR, "test.row", {})
    await checkpointer.checkpoint()
    return db


@pytest.fixture
def witness(signed: Database, tmp_path: Path) -> Generator[WitnessProcess]:
    with snapshot(signed) as source:
        (key,) = log_keys(source.keys())
    process = WitnessProcess(tmp_path / "witness", str(key))
    process.start()
    yield process
    process.kill()


@pytest.fixture
async def client() -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient() as client:
        yield client


@pytest.fixture
def cosignatures(anchor_file: AnchorFile) -> CosignatureFile:
    return CosignatureFile(anchor_file.path)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(CollectorRegistry())


@pytest.fixture
def witnesses(
    signed: Database,
    witness: WitnessProcess,
    client: httpx2.AsyncClient,
    cosignatures: CosignatureFile,
    metrics: Metrics,
) -> Witnesses:
    return Witnesses([witness.address], client, signed, cosignatures, metrics)


@pytest.fixture
def watched(
    signed: Database,
    appender: Appender,
    clock: ManualClock,
    key_file: KeyFile,
    anchor_file: AnchorFile,
    witnesses: Witnesses,
) -> Checkpointer:
    taker = CheckpointTaker(key_file, appender, clock)
    return Checkpointer(signed, taker, Anchors(anchor_file), clock, witnesses=witnesses)


async def grow(audit: AuditLog, watched: Checkpointer, rows: int = 3) -> None:
    await asyncio.gather(*(audit.append(ACME, ACTOR, "test.row", {"n": n}) for n in range(rows)))
    await watched.checkpoint()
    await watched.send_to_witnesses()


async def verified(
    db: Database, clock: ManualClock, anchor_file: AnchorFile, witness: WitnessProcess, client: httpx2.AsyncClient
) -> VerificationReport:
    """As `gaby audit verify --witness` does."""
    with snapshot(db) as source:
        origin = origin_of(source.keys())
    seen = await ask_witness(client, witness.address, origin)
    outside = ExternalEvidence(
        cosignatures=CosignatureFile(anchor_file.path), witnesses=[witness.address.key], witnessed=[seen]
    )
    return await verify_live(db, clock, anchors=anchor_file.path, outside=outside)


def up(metrics: Metrics) -> float | None:
    return metrics.registry.get_sample_value("gaby_audit_witness_up", {"witness": NAME})


async def test_honest_growth_is_signed_again_and_again(
    signed: Database,
    audit: AuditLog,
    watched: Checkpointer,
    witness: WitnessProcess,
    witnesses: Witnesses,
    cosignatures: CosignatureFile,
    clock: ManualClock,
    anchor_file: AnchorFile,
    client: httpx2.AsyncClient,
    metrics: Metrics,
) -> None:
    for _ in range(4):
        await grow(audit, watched)
    assert len(list(cosignatures.lines())) == 4
    assert (await witnesses.check()).health == "ok"
    assert up(metrics) == 1
    report = await verified(signed, clock, anchor_file, witness, client)
    assert (report.findings, report.agreeing) == ([], {NAME})


async def test_a_witness_that_was_down_or_restarted_goes_on_where_it_was(
    signed: Database,
    audit: AuditLog,
    watched: Checkpointer,
    witness: WitnessProcess,
    witnesses: Witnesses,
    clock: ManualClock,
    anchor_file: AnchorFile,
    client: httpx2.AsyncClient,
    metrics: Metrics,
) -> None:
    await grow(audit, watched)
    witness.kill()
    await grow(audit, watched)
    check = await witnesses.check()
    assert (check.health, up(metrics)) == ("warn", 0)
    assert NAME in check.message
    witness.start()
    # The same checkpoint is offered again, without a new one.
    await watched.send_to_witnesses()
    assert ((await witnesses.check()).health, up(metrics)) == ("ok", 1)
    await grow(audit, watched)
    assert (await verified(signed, clock, anchor_file, witness, client)).findings == []


async def test_a_server_that_restarted_asks_the_witness_how_far_it_is(
    signed: Database,
    audit: AuditLog,
    watched: Checkpointer,
    witness: WitnessProcess,
    client: httpx2.AsyncClient,
    cosignatures: CosignatureFile,
    clock: ManualClock,
    key_file: KeyFile,
    appender: Appender,
    anchor_file: AnchorFile,
) -> None:
    await grow(audit, watched)
    forgetful = Witnesses([witness.address], client, signed, cosignatures)
    taker = CheckpointTaker(key_file, appender, clock)
    again = Checkpointer(signed, taker, Anchors(anchor_file), clock, witnesses=forgetful)
    await grow(audit, again)
    assert (await forgetful.check()).health == "ok"
    assert (await verified(signed, clock, anchor_file, witness, client)).findings == []


def cut_back(db: Database, sizes: list[tuple[str, int]]) -> None:
    for statement in (
        "DELETE FROM audit_rows WHERE workspace_id = '{workspace}' AND seq >= {size}",
        "DELETE FROM audit_checkpoints WHERE workspace_id = '{workspace}' AND size > {size}",
    ):
        tamper(db, *(statement.format(workspace=workspace, size=size) for workspace, size in sizes))


async def test_a_rollback_of_database_and_anchors_together_is_found_by_asking_the_witness(
    signed: Database,
    audit: AuditLog,
    watched: Checkpointer,
    witness: WitnessProcess,
    witnesses: Witnesses,
    clock: ManualClock,
    anchor_file: AnchorFile,
    cosignatures: CosignatureFile,
    client: httpx2.AsyncClient,
    tmp_path: Path,
) -> None:
    await grow(audit, watched)
    with snapshot(signed) as source:
        sizes = [(log.workspace_id.hex, log.size) for log in source.sizes()]
    await asyncio.to_thread(shutil.copytree, anchor_file.path.parent, tmp_path / "backup")
    await grow(audit, watched)
    # Everything on the machine goes back to an earlier moment: the rows, the anchors, the cosignatures.
    cut_back(signed, sizes)
    await asyncio.to_thread(shutil.rmtree, anchor_file.path.parent)
    await asyncio.to_thread(shutil.copytree, tmp_path / "backup", anchor_file.path.parent)
    assert (await verify_live(signed, clock, anchors=anchor_file.path)).ok
    report = await verified(signed, clock, anchor_file, witness, client)
    assert (names(report), report.agreeing) == ({"rolled_back"}, set())
    # The server that goes on from there is told as well, and the log is not stopped by it.
    await audit.append(ACME, ACTOR, "test.row", {})
    await watched.checkpoint()
    await watched.send_to_witnesses()
    check = await witnesses.check()
    assert check.health == "warn"
    # Once it has grown past what the witness saw, its roots differ.
    for _ in range(3):
        await grow(audit, watched, rows=5)
    assert (await witnesses.check()).health == "warn"
    report = await verified(signed, clock, anchor_file, witness, client)
    assert (names(report), report.agreeing) == ({"witness_mismatch"}, set())
    assert len(list(cosignatures.lines())) == 1


async def test_a_cosignature_kept_beside_the_anchors_tells_a_rollback_of_the_database(
    signed: Database,
    audit: AuditLog,
    watched: Checkpointer,
    witness: WitnessProcess,
    clock: ManualClock,
    cosignatures: CosignatureFile,
) -> None:
    with snapshot(signed) as source:
        sizes = [(log.workspace_id.hex, log.size) for log in source.sizes()]
    await grow(audit, watched)
    outside = ExternalEvidence(cosignatures=cosignatures, witnesses=[witness.address.key])
    assert (await verify_live(signed, clock, outside=outside)).findings == []
    cut_back(signed, sizes)
    witness.kill()
    assert names(await verify_live(signed, clock, outside=outside)) == {"rolled_back"}


async def test_garbage_among_the_cosignatures_is_a_finding(
    signed: Database,
    audit: AuditLog,
    watched: Checkpointer,
    witness: WitnessProcess,
    clock: ManualClock,
    cosignatures: CosignatureFile,
) -> None:
    await grow(audit, watched)
    good = cosignatures.path.read_bytes()
    outside = ExternalEvidence(cosignatures=cosignatures, witnesses=[witness.address.key])
    for line in (b"\n", b"{}\n", b'{"note":"x","witness":"y"}\n', b"\xff\xfe\n", b"torn"):
        cosignatures.path.write_bytes(good + line)
        assert names(await verify_live(signed, clock, outside=outside)) == {"malformed"}, line
    # One that is not what the witness signed, and one of a witness that nobody named.
    kept = orjson.loads(good)
    forged = canonical(kept | {"note": kept["note"].replace("gaby.audit/", "gaby.other/", 1)}) + b"\n"
    cosignatures.path.write_bytes(forged)
    assert names(await verify_live(signed, clock, outside=outside)) == {"checkpoint_forged"}
    cosignatures.path.write_bytes(forged.replace(NAME.encode(), b"witness.example/w2"))
    assert (await verify_live(signed, clock, outside=outside)).findings == []


async def post(client: httpx2.AsyncClient, witness: WitnessProcess, body: bytes) -> tuple[int, str]:
    answer = await client.post(f"{witness.url}/add-checkpoint", content=body)
    return answer.status_code, answer.text


async def test_the_protocol_answers_as_c2sp_says(
    signed: Database, witness: WitnessProcess, client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    with snapshot(signed) as source:
        origin = origin_of(source.keys())
    key, stranger = load(tmp_path / "keys" / "audit.pem"), SigningKey.generate()
    tree, fork = Accumulator(), Accumulator()
    tree.extend(bytes([n]) * 32 for n in range(4))
    fork.extend(bytes([n + 9]) * 32 for n in range(4))

    def note(size: int, root: bytes, by: SigningKey = key, name: str = origin) -> bytes:
        return sign_note(checkpoint_body(name, size, root), name, by)

    four = note(4, tree.root())
    origin_hash = sha256(origin.encode()).hexdigest()
    assert (await client.get(f"{witness.url}/{origin_hash}/checkpoint")).status_code == 404
    assert (await post(client, witness, b"old 0\n\n" + note(4, tree.root(), name="gaby.audit/other")))[0] == 404
    assert (await post(client, witness, b"old 0\n\n" + note(4, tree.root(), by=stranger)))[0] == 403
    assert (await post(client, witness, b"old 0\n\n" + four.replace(b"\n4\n", b"\n5\n")))[0] == 403
    assert (await post(client, witness, b"old 5\n\n" + four))[0] == 400
    assert await post(client, witness, b"old 3\n\n" + four) == (409, "0\n")
    assert (await post(client, witness, b"old 0\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n" + four))[0] == 422
    assert (await post(client, witness, b"old 0\n\n" + note(0, bytes(32))))[0] == 422
    status, line = await post(client, witness, b"old 0\n\n" + four)
    assert (status, line.startswith(f"— {NAME} ")) == (200, True)
    # Replays: the same old size is behind by now, and the same size again is signed with the time of now.
    answer = await client.post(f"{witness.url}/add-checkpoint", content=b"old 0\n\n" + four)
    assert (answer.status_code, answer.text) == (409, "4\n")
    assert answer.headers["content-type"] == "text/x.tlog.size"
    assert (await post(client, witness, b"old 4\n\n" + four))[0] == 200
    # A fork of the same size, a smaller tree, and a larger one without a proof.
    assert (await post(client, witness, b"old 4\n\n" + note(4, fork.root())))[0] == 422
    assert await post(client, witness, b"old 2\n\n" + note(2, fork.root())) == (409, "4\n")
    assert (await post(client, witness, b"old 4\n\n" + note(8, fork.root())))[0] == 422
    kept = await client.get(f"{witness.url}/{origin_hash}/checkpoint")
    assert kept.content.startswith(four)
    witness.kill()
    witness.start()
    assert (await client.get(f"{witness.url}/{origin_hash}/checkpoint")).content == kept.content
    assert await post(client, witness, b"old 0\n\n" + note(4, fork.root())) == (409, "4\n")


GARBAGE = (b"", b"\n\n", b"old\n\n", b"old -1\n\nx", b"old 0\n\n", b"old 00\n\na\n", b"old 0\nzz\n\na", b"\xff" * 100)


async def test_garbage_is_a_bad_request(witness: WitnessProcess, client: httpx2.AsyncClient) -> None:
    for body in GARBAGE:
        assert (await post(client, witness, body))[0] == 400, body
        assert (await post(client, witness, body + b"x" * 200_000))[0] in {400, 413}, body


async def test_a_witness_whose_record_is_lost_does_not_start_again(
    signed: Database, audit: AuditLog, watched: Checkpointer, witness: WitnessProcess
) -> None:
    await grow(audit, watched)
    witness.kill()
    record = witness.folder / "seen.json"
    for damage in (record.unlink, lambda: record.write_bytes(b"{}"), lambda: record.write_bytes(b"")):
        damage()
        with pytest.raises(AssertionError):
            witness.start()


async def test_a_witness_that_cannot_be_believed_is_not(
    signed: Database, witness: WitnessProcess, client: httpx2.AsyncClient, audit: AuditLog, watched: Checkpointer
) -> None:
    await grow(audit, watched)
    with snapshot(signed) as source:
        origin = origin_of(source.keys())
    other = witness.address.key._replace(public_key=SigningKey.generate().public_key)
    for address, name, reached in (
        (WitnessAddress(witness.url, other), origin, True),
        (witness.address, "gaby.audit/other", True),
        (WitnessAddress("http://127.0.0.1:9", witness.address.key), origin, False),
        (WitnessAddress("http://[", witness.address.key), origin, False),
    ):
        with pytest.raises(WitnessSilent) as caught:
            await ask_witness(client, address, name)
        # What a witness answers can speak against the log; that it cannot be asked cannot.
        assert isinstance(caught.value, WitnessUnreachable) != reached


@pytest.mark.parametrize(
    "text", ["https://w.example", "w.example KEY", "https://w.example a+b+c", "https://w.example "]
)
def test_a_setting_that_names_no_witness_is_refused(text: str) -> None:
    with pytest.raises(Misconfigured):
        parse_witnesses(text)
