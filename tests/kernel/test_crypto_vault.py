"""The vault on both engines: sealed per subject and workspace, shredded for good, carried over a rotation."""

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select

from gaby.kernel.clock import ManualClock
from gaby.kernel.crypto import CannotOpen, MasterKeyMissing, MasterKeys, SubjectShredded, Vault
from gaby.kernel.crypto.models import DataKey
from gaby.kernel.database import Database
from gaby.kernel.errors import Invalid
from gaby.kernel.ids import IdFactory, WorkspaceId

pytestmark = pytest.mark.promise("A6")

A, B = WorkspaceId(UUID(int=10)), WorkspaceId(UUID(int=11))
ANA = "person:ana"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "master.json"


@pytest.fixture
def vault(key_file: Path, clock: ManualClock, ids: IdFactory) -> Vault:
    return Vault(MasterKeys.load_or_create(key_file), clock, ids)


async def put(db: Database, vault: Vault, text: str, *, workspace: WorkspaceId = A, renew: bool = False) -> str:
    async with db.write(workspace) as session:
        return await vault.seal(session, ANA, text, "audit", renew=renew)


async def get(db: Database, vault: Vault, sealed: str, *, workspace: WorkspaceId = A, purpose: str = "audit") -> str:
    async with db.read(workspace) as session:
        return await vault.open(session, ANA, sealed, purpose)


async def shred(db: Database, vault: Vault) -> bool:
    async with db.write(A) as session:
        return await vault.shred(session, ANA)


async def rows(db: Database, workspace: WorkspaceId = A) -> list[DataKey]:
    async with db.read(workspace) as session:
        return list(await session.scalars(select(DataKey).where(DataKey.workspace_id == workspace)))


@pytest.mark.parametrize("text", ["ana@example.org", "", "Bjørn 😀", "\0", "\ud800", "x" * 100_000])
async def test_what_is_sealed_opens_again(db: Database, vault: Vault, text: str) -> None:
    sealed = await put(db, vault, text)
    assert not text or text not in sealed
    assert await get(db, vault, sealed) == text


async def test_a_subject_keeps_one_key(db: Database, vault: Vault) -> None:
    texts = [await put(db, vault, str(number)) for number in range(3)]
    assert [await get(db, vault, sealed) for sealed in texts] == ["0", "1", "2"]
    assert len(await rows(db)) == 1


async def test_it_opens_only_for_its_workspace_subject_and_purpose(db: Database, vault: Vault) -> None:
    sealed = await put(db, vault, "secret")
    await put(db, vault, "other", workspace=B)
    with pytest.raises(CannotOpen):
        await get(db, vault, sealed, workspace=B)
    with pytest.raises(CannotOpen):
        await get(db, vault, sealed, purpose="tickets")
    async with db.write(A) as session:
        await vault.seal(session, "person:bo", "x", "audit")
        with pytest.raises(CannotOpen):
            await vault.open(session, "person:bo", sealed, "audit")
        with pytest.raises(CannotOpen):
            await vault.open(session, "person:nobody", sealed, "audit")


async def test_a_data_key_moved_to_another_row_opens_nothing(db: Database, vault: Vault) -> None:
    sealed = await put(db, vault, "secret")
    async with db.write(A) as session:
        await vault.seal(session, "person:bo", "x", "audit")
        ana, bo = await session.scalars(select(DataKey).where(DataKey.workspace_id == A).order_by(DataKey.subject))
        ana.wrapped, bo.wrapped = bo.wrapped, ana.wrapped
    with pytest.raises(CannotOpen):
        await get(db, vault, sealed)


async def test_after_shredding_nothing_can_be_read_or_added(db: Database, vault: Vault, clock: ManualClock) -> None:
    sealed = await put(db, vault, "secret")
    kept = await put(db, vault, "of another workspace", workspace=B)
    clock.advance(timedelta(days=1))
    assert await shred(db, vault)
    assert not await shred(db, vault)
    with pytest.raises(SubjectShredded):
        await get(db, vault, sealed)
    with pytest.raises(SubjectShredded):
        await put(db, vault, "more")
    (row,) = await rows(db)
    assert (row.wrapped, row.master_key_id, row.shredded_at) == (None, None, clock.now())
    assert await get(db, vault, kept, workspace=B) == "of another workspace"


async def test_shredding_somebody_unknown_changes_nothing(db: Database, vault: Vault) -> None:
    assert not await shred(db, vault)
    assert await rows(db) == []


async def test_a_renewed_subject_starts_over_and_the_old_stays_shut(db: Database, vault: Vault) -> None:
    old = await put(db, vault, "old")
    await shred(db, vault)
    new = await put(db, vault, "new", renew=True)
    also_new = await put(db, vault, "also new")
    assert [await get(db, vault, sealed) for sealed in (new, also_new)] == ["new", "also new"]
    with pytest.raises(SubjectShredded):
        await get(db, vault, old)
    assert await shred(db, vault)
    with pytest.raises(SubjectShredded):
        await get(db, vault, new)


async def test_a_change_after_a_renewal_is_still_told_from_shredding(db: Database, vault: Vault) -> None:
    await put(db, vault, "old")
    await shred(db, vault)
    new = await put(db, vault, "new", renew=True)
    with pytest.raises(CannotOpen):
        await get(db, vault, new[:-4] + ("AAAA" if not new.endswith("AAAA") else "BBBB"))


async def test_an_undone_transaction_leaves_no_key(db: Database, vault: Vault) -> None:
    async with db.write(A) as session:
        await vault.seal(session, ANA, "x", "audit")
        await session.rollback()
    assert await rows(db) == []


async def test_two_who_seal_for_a_new_subject_at_once_share_its_key(db: Database, vault: Vault) -> None:
    texts = await asyncio.gather(*(put(db, vault, str(number)) for number in range(6)))
    assert [await get(db, vault, sealed) for sealed in texts] == [str(number) for number in range(6)]
    assert len(await rows(db)) == 1


async def test_a_rotation_is_carried_over_in_batches_and_the_old_key_can_then_go(
    db: Database, vault: Vault, key_file: Path, clock: ManualClock, ids: IdFactory
) -> None:
    sealed = await put(db, vault, "secret")
    async with db.write(A) as session:
        for number in range(4):
            await vault.seal(session, f"person:{number}", "x", "audit")
        await vault.shred(session, "person:3")
    await put(db, vault, "elsewhere", workspace=B)
    master = MasterKeys.load_or_create(key_file)
    fresh = master.rotate()
    rotated = Vault(master, clock, ids)
    async with db.write(A) as session:
        assert [await rotated.rewrap(session, batch=3) for _ in range(3)] == [3, 1, 0]
    assert {row.master_key_id for row in await rows(db)} == {fresh, None}
    assert {row.master_key_id for row in await rows(db, B)} != {fresh}
    assert await get(db, rotated, sealed) == "secret"


async def test_without_its_master_key_the_error_names_it(
    db: Database, vault: Vault, clock: ManualClock, ids: IdFactory, tmp_path: Path
) -> None:
    sealed = await put(db, vault, "secret")
    stranger = Vault(MasterKeys.load_or_create(tmp_path / "other" / "master.json"), clock, ids)
    (row,) = await rows(db)
    with pytest.raises(MasterKeyMissing, match=str(row.master_key_id)):
        await get(db, stranger, sealed)


@pytest.mark.parametrize("subject", ["", "x" * 201, "two words", "nul\0", "é", "line\n"])
async def test_a_subject_that_is_no_id_is_refused(db: Database, vault: Vault, subject: str) -> None:
    async with db.write(A) as session:
        with pytest.raises(Invalid, match="subject"):
            await vault.seal(session, subject, "x", "audit")
