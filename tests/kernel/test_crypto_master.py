"""The master key file is made once, guarded, never overwritten, and keeps old keys when a new one comes."""

import base64
import json
import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Barrier, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.crypto import CannotOpen, MasterKeyMissing, MasterKeys, MasterKeyUnusable, keyfile
from gaby.kernel.crypto.keyfile import MasterKeyRing
from gaby.kernel.crypto.master import WrappedKey
from gaby.kernel.errors import Misconfigured

pytestmark = pytest.mark.promise("A6")

DATA_KEY = bytes(range(32))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "master.json"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_first_run_makes_a_guarded_file_and_the_second_reads_it(path: Path) -> None:
    first = MasterKeys.load_or_create(path)
    before = path.read_bytes()
    second = MasterKeys.load_or_create(path)
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert path.read_bytes() == before
    assert second.unwrap(first.wrap(DATA_KEY, b"here"), b"here") == DATA_KEY
    assert [each.name for each in path.parent.iterdir()] == ["master.json"]


def test_what_is_wrapped_opens_only_in_its_place(path: Path) -> None:
    master = MasterKeys.load_or_create(path)
    with pytest.raises(CannotOpen):
        master.unwrap(master.wrap(DATA_KEY, b"here"), b"elsewhere")


def test_after_a_rotation_the_old_still_opens_and_the_new_is_used(path: Path) -> None:
    master = MasterKeys.load_or_create(path)
    old = master.wrap(DATA_KEY, b"a")
    fresh = master.rotate()
    assert master.active_id == fresh != old.master_key_id
    assert master.wrap(DATA_KEY, b"a").master_key_id == fresh
    for each in (master, MasterKeys.load_or_create(path)):
        assert each.unwrap(old, b"a") == DATA_KEY
    assert mode(path) == 0o600


def test_a_process_that_started_before_the_rotation_learns_the_new_key(path: Path) -> None:
    earlier = MasterKeys.load_or_create(path)
    later = MasterKeys.load_or_create(path)
    later.rotate()
    assert earlier.unwrap(later.wrap(DATA_KEY, b"a"), b"a") == DATA_KEY
    assert earlier.active_id == later.active_id


def test_rotations_at_the_same_moment_lose_no_key(path: Path) -> None:
    MasterKeys.load_or_create(path)
    masters = [MasterKeys.load_or_create(path) for _ in range(8)]
    threads = [Thread(target=master.rotate) for master in masters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(MasterKeys.load_or_create(path).ids) == 9


def test_first_runs_at_the_same_moment_agree_on_one_key(path: Path) -> None:
    start, made = Barrier(8), list[str]()

    def run() -> None:
        start.wait()
        made.append(MasterKeys.load_or_create(path).active_id)

    threads = [Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(made)) == 1


@pytest.mark.parametrize("extra", [0o040, 0o004, 0o020, 0o002])
def test_a_file_that_others_can_use_is_refused_with_the_command_to_run(path: Path, extra: int) -> None:
    MasterKeys.load_or_create(path)
    path.chmod(0o600 | extra)
    with pytest.raises(MasterKeyUnusable, match="chmod 600"):
        MasterKeys.load_or_create(path)


def test_a_folder_where_others_can_replace_the_file_is_refused(path: Path) -> None:
    MasterKeys.load_or_create(path)
    path.parent.chmod(0o777)
    with pytest.raises(MasterKeyUnusable, match="chmod 700"):
        MasterKeys.load_or_create(path)


def test_what_cannot_be_read_is_told_and_left_alone(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.symlink_to(tmp_path / "nothing")
    with pytest.raises(MasterKeyUnusable, match="cannot be read: No such file"):
        MasterKeys.load_or_create(path)
    assert path.is_symlink()
    with pytest.raises(MasterKeyUnusable, match="cannot be read: Is a directory"):
        MasterKeys.load_or_create(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MasterKeyUnusable, match=r"cannot be (created|read): "):
        MasterKeys.load_or_create(tmp_path / "file" / "master.json")


def damage(path: Path) -> list[bytes]:
    good = json.loads(path.read_bytes())
    ((name, key),) = good["keys"].items()
    flipped = base64.b64encode(bytes([base64.b64decode(key)[0] ^ 1]) + base64.b64decode(key)[1:]).decode()
    changed: list[object] = [
        good | {"version": 2},
        good | {"version": "1"},
        good | {"active": "unknown"},
        good | {"active": None},
        good | {"keys": {}},
        good | {"keys": [key]},
        good | {"keys": {name: flipped}},
        good | {"keys": {name: key[:-4]}},
        good | {"keys": {name: 7}},
        good | {"keys": {name: key, "other": "###"}},
        [],
    ]
    return [*(json.dumps(each).encode() for each in changed), b"", path.read_bytes()[:-20], b"\xff\xfe", b"[" * 50_000]


def test_a_damaged_file_is_refused_says_what_to_do_and_is_never_overwritten(path: Path) -> None:
    master = MasterKeys.load_or_create(path)
    for content in damage(path):
        path.write_bytes(content)
        for attempt in (lambda: MasterKeys.load_or_create(path), master.rotate):
            with pytest.raises(MasterKeyUnusable, match=r"Restore it from your backup|Upgrade Gaby"):
                attempt()
            assert path.read_bytes() == content


@given(st.binary(max_size=400))
def test_any_bytes_are_keys_or_are_refused_in_our_own_words(data: bytes) -> None:
    with suppress(MasterKeyUnusable):
        keyfile.parse(data, Path("master.json"))


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=4))
def test_what_is_written_is_what_is_read(keys: list[bytes]) -> None:
    ring = MasterKeyRing.from_keys(*keys)
    assert keyfile.parse(ring.to_json(), Path("master.json")) == ring


@given(st.data())
def test_no_single_byte_of_the_file_can_change_a_key_unnoticed(data: st.DataObject) -> None:
    ring = MasterKeyRing.from_keys(bytes(32), DATA_KEY)
    content = bytearray(ring.to_json())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(MasterKeyUnusable):
        assert set(keyfile.parse(bytes(content), Path("x")).keys.values()) == set(ring.keys.values())


def test_a_rotation_that_dies_half_way_leaves_the_old_file_whole(path: Path) -> None:
    MasterKeys.load_or_create(path)
    before = path.read_bytes()
    program = f"""
import os, signal
from pathlib import Path
from gaby.kernel.crypto import MasterKeys
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
MasterKeys.load_or_create(Path({str(path)!r})).rotate()
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert path.read_bytes() == before
    assert MasterKeys.load_or_create(path).rotate()


def test_a_key_from_a_setting_is_the_same_key_everywhere() -> None:
    old, new = (base64.b64encode(os.urandom(32)).decode() for _ in range(2))
    wrapped = MasterKeys.from_value(old).wrap(DATA_KEY, b"a")
    rotated = MasterKeys.from_value(f"{new}, {old}")
    assert rotated.unwrap(wrapped, b"a") == DATA_KEY
    assert rotated.active_id != wrapped.master_key_id
    with pytest.raises(MasterKeyMissing, match=wrapped.master_key_id):
        MasterKeys.from_value(new).unwrap(wrapped, b"a")
    with pytest.raises(Misconfigured, match="openssl rand"):
        rotated.rotate()


@pytest.mark.parametrize("text", ["", "hunter2", "###", base64.b64encode(bytes(31)).decode(), "é", "AAAA,"])
def test_a_setting_that_is_no_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(Misconfigured, match="openssl rand -base64 32") as caught:
        MasterKeys.from_value(text)
    assert not text or text not in caught.value.message


def test_keys_do_not_show_when_printed(path: Path) -> None:
    master = MasterKeys.load_or_create(path)
    (key,) = json.loads(path.read_bytes())["keys"].values()
    ring = keyfile.read(path)
    shown = f"{master!r} {ring!r}"
    assert key not in shown
    assert repr(base64.b64decode(key)) not in shown


def test_a_wrapped_key_that_was_cut_short_is_refused(path: Path) -> None:
    master = MasterKeys.load_or_create(path)
    with pytest.raises(CannotOpen):
        master.unwrap(WrappedKey(master.active_id, b"\x01short"), b"a")
