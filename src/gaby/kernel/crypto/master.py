"""The master keys: they wrap the data keys and nothing else."""

import os
import secrets
from pathlib import Path
from typing import NamedTuple

from gaby.kernel.crypto import keyfile
from gaby.kernel.crypto.envelope import KEY_BYTES, SealedEnvelope, open_sealed, seal
from gaby.kernel.crypto.errors import MasterKeyMissing
from gaby.kernel.crypto.keyfile import MasterKeyRing, decode_key
from gaby.kernel.errors import Misconfigured
from gaby.kernel.ids import Random


class WrappedKey(NamedTuple):
    """A data key that only the named master key opens."""

    master_key_id: str
    data: bytes


class MasterKeys:
    def __init__(self, ring: MasterKeyRing, path: Path | None = None, random: Random = secrets.token_bytes) -> None:
        self._ring = ring
        self._path = path
        self._random = random

    @classmethod
    def load_or_create(cls, path: Path, random: Random = secrets.token_bytes) -> "MasterKeys":
        # A dangling link counts as there: somebody meant a key to be behind it.
        if not os.path.lexists(path):
            keyfile.create(path, MasterKeyRing.from_keys(random(KEY_BYTES)))
        return cls(keyfile.read(path), path, random)

    @classmethod
    def from_value(cls, text: str, random: Random = secrets.token_bytes) -> "MasterKeys":
        """From a setting: 32 bytes in base64. Several with commas between them: the first wraps, the others unwrap."""
        keys = [decode_key(part.strip()) for part in text.split(",")]
        good = [key for key in keys if key is not None]
        if len(good) != len(keys):
            raise Misconfigured(
                "GABY_CRYPTO_MASTER_KEY is not a key. Make one with `openssl rand -base64 32`; after a change, keep "
                "the old one behind a comma."
            )
        return cls(MasterKeyRing.from_keys(*good), random=random)

    @property
    def active_id(self) -> str:
        return self._ring.active

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self._ring.keys)

    def rotate(self) -> str:
        """Adds a new active key and keeps the old ones, which are needed until everything is wrapped again."""
        if self._path is None:
            raise Misconfigured(
                "The master key comes from GABY_CRYPTO_MASTER_KEY. To change it, put a new one from "
                "`openssl rand -base64 32` and a comma in front of it."
            )
        with keyfile.locked(self._path):
            known = keyfile.read(self._path)
            fresh = MasterKeyRing.from_keys(self._random(KEY_BYTES), *known.keys.values())
            keyfile.replace(self._path, fresh)
        self._ring = fresh
        return fresh.active

    def wrap(self, data_key: bytes, aad: bytes) -> WrappedKey:
        ring = self._ring
        return WrappedKey(ring.active, seal(ring.keys[ring.active], data_key, aad, self._random).to_bytes())

    def unwrap(self, wrapped: WrappedKey, aad: bytes) -> bytes:
        return open_sealed(self._key(wrapped.master_key_id), SealedEnvelope.from_bytes(wrapped.data), aad)

    def _key(self, master_key_id: str) -> bytes:
        if master_key_id not in self._ring.keys and self._path is not None:
            # Another process may have rotated since we started.
            self._ring = keyfile.read(self._path)
        if master_key_id not in self._ring.keys:
            raise MasterKeyMissing(f"{MasterKeyMissing().message} (The key is {master_key_id}.)")
        return self._ring.keys[master_key_id]

    def __repr__(self) -> str:
        return f"MasterKeys(active_id={self.active_id!r}, count={len(self.ids)})"
