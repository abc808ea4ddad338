"""The master key file: made once, readable by its owner only, replaced whole or not at all."""

import base64
import binascii
import fcntl
import json
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from gaby.kernel.crypto.envelope import KEY_BYTES, key_id
from gaby.kernel.crypto.errors import MasterKeyUnusable

VERSION = 1
_TOO_LONG = 1 << 16
_RESTORE = "Restore it from your backup; Gaby never overwrites it."


@dataclass(frozen=True)
class MasterKeyRing:
    """Master keys by id, and which of them wraps new keys."""

    active: str
    keys: dict[str, bytes] = field(repr=False)

    @classmethod
    def from_keys(cls, *keys: bytes) -> "MasterKeyRing":
        """The first one is active."""
        named = {name(key): key for key in keys}
        return cls(name(keys[0]), named)

    def to_json(self) -> bytes:
        keys = {each: base64.b64encode(key).decode() for each, key in self.keys.items()}
        return json.dumps({"version": VERSION, "active": self.active, "keys": keys}, indent=2).encode() + b"\n"


def name(key: bytes) -> str:
    return key_id(key).hex()


def decode_key(text: str) -> bytes | None:
    try:
        key = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    return key if len(key) == KEY_BYTES else None


def parse(data: bytes, path: Path) -> MasterKeyRing:
    try:
        content: object = json.loads(data)
    except (ValueError, RecursionError):
        raise MasterKeyUnusable(f"The master key file {path} is damaged: it is not JSON. {_RESTORE}") from None
    if not isinstance(content, dict):
        raise MasterKeyUnusable(f"The master key file {path} is damaged: it is not a JSON object. {_RESTORE}")
    fields = cast("dict[str, Any]", content)
    if fields.get("version") != VERSION:
        raise MasterKeyUnusable(
            f"The master key file {path} has a version that this Gaby does not know. Upgrade Gaby. "
            "The file was left untouched."
        )
    active, encoded = fields.get("active"), fields.get("keys")
    keys = _decoded(cast("dict[str, object]", encoded)) if isinstance(encoded, dict) else None
    # A key's name is derived from the key, so a single flipped bit shows here and not when data is read.
    if keys is None or not isinstance(active, str) or active not in keys or any(name(k) != n for n, k in keys.items()):
        raise MasterKeyUnusable(f"The master key file {path} is damaged: its keys do not match their names. {_RESTORE}")
    return MasterKeyRing(active, keys)


def read(path: Path) -> MasterKeyRing:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            data = file.read(_TOO_LONG)
        folder = path.parent.stat()
    except OSError as error:
        raise MasterKeyUnusable(
            f"The master key file {path} cannot be read: {error.strerror}. Give it to the user that runs Gaby, or "
            "restore it from your backup."
        ) from error
    if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
        raise MasterKeyUnusable(f"Others on this machine can use the master key file {path}. Run `chmod 600 {path}`.")
    if folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
        raise MasterKeyUnusable(f"Others on this machine can replace {path}. Run `chmod 700 {path.parent}`.")
    return parse(data, path)


def create(path: Path, ring: MasterKeyRing) -> None:
    """Makes the file, complete or not at all. When another process was first, theirs stays."""
    with _reported(path, "created"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            _write_new(draft, ring.to_json())
            # Unlike a rename, a link never replaces what is there.
            os.link(draft, path)
        except FileExistsError:
            return
        finally:
            draft.unlink(missing_ok=True)
        _sync_folder(path.parent)


def replace(path: Path, ring: MasterKeyRing) -> None:
    with _reported(path, "replaced"):
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            _write_new(draft, ring.to_json())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        _sync_folder(path.parent)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """One rotation at a time, also across processes; the lock ends with the process that holds it."""
    with _reported(path, "locked"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with _reported(path, "locked"):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def _reported(path: Path, what: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise MasterKeyUnusable(
            f"The master key file {path} cannot be {what}: {error.strerror}. Make {path.parent} writable for the user "
            "that runs Gaby, and check that the disk is not full."
        ) from error


def _decoded(encoded: dict[str, object]) -> dict[str, bytes] | None:
    keys = {each: decode_key(key) for each, key in encoded.items() if isinstance(key, str)}
    decoded = {each: key for each, key in keys.items() if key is not None}
    return decoded if len(decoded) == len(encoded) else None


def _write_new(path: Path, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
