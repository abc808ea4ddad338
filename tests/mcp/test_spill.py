"""Large answers on disk: whole, sealed, of one workspace only, and gone when they are old."""

import asyncio
import resource
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.clock import ManualClock, SystemClock
from gaby.mcp import McpHost, NoSuchPage, SpillDamaged, SpillFailed, SpillFolder, SpillNotFound
from tests.mcp.ciphers import AesCipher
from tests.mcp.scenes import ACME, BYTE, GOOD, ROOT, ask, good

pytestmark = pytest.mark.promise("M10")


async def whole(spill: SpillFolder, pointer_id: str, pages: int) -> str:
    return "".join([await spill.read(ACME, pointer_id, page) for page in range(pages)])


async def test_a_large_answer_can_be_read_page_by_page(host: McpHost, spill: SpillFolder) -> None:
    await host.configure(GOOD, good())
    text = "begin " + "grüße 🎫 " * 20_000 + " end"
    answered = await ask(host, "echo", key=GOOD, text=text)
    pointer = answered.spilled
    assert pointer is not None
    assert pointer.size == answered.size == len(text.encode())
    assert pointer.pages > 1
    assert pointer.head.startswith("begin ")
    assert pointer.tail.endswith(" end")
    assert answered.text.startswith(pointer.head)
    assert answered.text.endswith(pointer.tail)
    assert f"{answered.size} bytes in all" in answered.text
    assert await whole(spill, pointer.id, pointer.pages) == text


async def test_an_answer_within_the_limit_stays_in_memory(host: McpHost) -> None:
    await host.configure(GOOD, good())
    answered = await ask(host, "big", key=GOOD, size=100_000)
    assert answered.spilled is None
    assert len(answered.text) == 100_000


async def test_the_structured_part_of_a_large_answer_is_kept_too(host: McpHost, spill: SpillFolder) -> None:
    await host.configure(GOOD, good({"LONG": "y" * 110_000}))
    answered = await ask(host, "whoami", key=GOOD)
    assert answered.spilled is not None
    assert answered.structured is None
    assert '"LONG":"yyy' in await whole(spill, answered.spilled.id, answered.spilled.pages)


@given(text=st.text(min_size=1, max_size=50), times=st.integers(1, 9_000))
def test_whatever_is_kept_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str, times: int) -> None:
    spill = SpillFolder(tmp_path_factory.mktemp("spill"), AesCipher(), SystemClock())

    async def round_trip() -> str:
        pointer = await spill.store(ACME, text * times)
        return await whole(spill, pointer.id, pointer.pages)

    assert asyncio.run(round_trip()) == text * times


async def test_a_pointer_of_another_workspace_is_not_found(spill: SpillFolder) -> None:
    pointer = await spill.store(ACME, "secret of acme")
    assert await spill.read(ACME, pointer.id, 0) == "secret of acme"
    with pytest.raises(SpillNotFound):
        await spill.read(BYTE, pointer.id, 0)


@pytest.mark.parametrize("pointer_id", ["", "x", "../" * 5 + "etc/passwd", "0" * 32, "a" * 31 + "/", "A" * 32])
async def test_an_id_that_was_never_given_is_not_found(spill: SpillFolder, pointer_id: str) -> None:
    with pytest.raises(SpillNotFound):
        await spill.read(ACME, pointer_id, 0)


@pytest.mark.parametrize("page", [-1, 1, 10**9])
async def test_a_page_that_does_not_exist_is_refused(spill: SpillFolder, page: int) -> None:
    pointer = await spill.store(ACME, "one page")
    with pytest.raises(NoSuchPage, match="has 1 pages"):
        await spill.read(ACME, pointer.id, page)


async def test_files_are_sealed_and_for_nobody_else(spill: SpillFolder, tmp_path: Path) -> None:
    await spill.store(ACME, "secret of acme " * 10_000)
    folder, file = sorted((tmp_path / "spill").rglob("*"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert b"secret of acme" not in file.read_bytes()


async def test_a_file_that_was_changed_does_not_open(spill: SpillFolder, tmp_path: Path) -> None:
    pointer = await spill.store(ACME, "x" * 200_000)
    file = next((tmp_path / "spill").rglob(pointer.id))
    data = file.read_bytes()
    tampered = {
        "a byte": data[:100] + bytes([data[100] ^ 1]) + data[101:],
        "number of pages": b"\0\0\0\3" + data[4:],
        "cut": data[:50],
        "nearly empty": data[:6],
        "empty": b"",
    }
    for changed in tampered.values():
        file.write_bytes(changed)
        with pytest.raises(SpillDamaged):
            await spill.read(ACME, pointer.id, 0)
    # The file of one answer in the place of another.
    other = await spill.store(ACME, "y" * 200_000)
    file.write_bytes((file.parent / other.id).read_bytes())
    with pytest.raises(SpillDamaged):
        await spill.read(ACME, pointer.id, 0)


async def test_old_answers_are_swept_away_and_young_ones_stay(spill: SpillFolder, clock: ManualClock) -> None:
    old = await spill.store(ACME, "old")
    clock.advance(timedelta(days=8))
    young = await spill.store(BYTE, "young")
    assert await spill.sweep(timedelta(days=7)) == 1
    with pytest.raises(SpillNotFound):
        await spill.read(ACME, old.id, 0)
    assert await spill.read(BYTE, young.id, 0) == "young"


async def test_a_workspace_can_be_forgotten(spill: SpillFolder) -> None:
    gone, kept = await spill.store(ACME, "gone"), await spill.store(BYTE, "kept")
    await spill.forget(ACME)
    await spill.forget(ACME)
    with pytest.raises(SpillNotFound):
        await spill.read(ACME, gone.id, 0)
    assert await spill.read(BYTE, kept.id, 0) == "kept"


async def test_ids_are_long_and_never_the_same(spill: SpillFolder) -> None:
    ids = {(await spill.store(ACME, "x")).id for _ in range(50)}
    assert len(ids) == 50
    assert {len(each) for each in ids} == {32}


def test_on_a_full_disk_the_beginning_and_the_end_still_arrive(tmp_path: Path) -> None:
    def small_disk() -> None:
        # The kernel lets no file grow past this, as a full disk would.
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    run = subprocess.run(
        [sys.executable, "-m", "tests.mcp.full_disk", str(tmp_path)],
        cwd=ROOT,
        preexec_fn=small_disk,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    assert run.stdout.splitlines() == ["xxx ... xxx", "500000", "None", "spill_failed", "File too large", "[]"]


async def test_a_host_without_a_folder_gives_the_beginning_and_the_end(tmp_path: Path, clock: ManualClock) -> None:
    spill = SpillFolder(tmp_path / "file", AesCipher(), clock)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SpillFailed, match="could not be kept on disk"):
        await spill.store(ACME, "text")
