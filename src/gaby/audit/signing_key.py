"""The key that signs checkpoints: kept in a file that only its owner can read."""

import os
import stat
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from gaby.audit.errors import SigningKeyUnusable

_TOO_LONG = 10_000


def key_id(public_key: bytes) -> str:
    """The short name of a public key."""
    return sha256(public_key).hexdigest()[:16]


def signature_holds(public_key: bytes, signature: bytes, note: bytes) -> bool:
    try:
        _loaded(public_key).verify(signature, note)
    except (InvalidSignature, ValueError):
        return False
    return True


@lru_cache(maxsize=64)
def _loaded(public_key: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(public_key)


class SigningKey:
    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public_key = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.id = key_id(self.public_key)

    @classmethod
    def generate(cls) -> "SigningKey":
        return cls(Ed25519PrivateKey.generate())

    def sign(self, note: bytes) -> bytes:
        return self._private.sign(note)

    def save(self, path: Path) -> None:
        """Write the key to a new file with owner-only rights. An existing file is never overwritten."""
        pem = self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise SigningKeyUnusable(f"The audit signing key cannot be written to {path}: {error.strerror}.") from error
        try:
            os.write(file, pem)
            os.fsync(file)
        finally:
            os.close(file)
        sync_folder(path.parent)


def load(path: Path) -> SigningKey:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            pem = file.read(_TOO_LONG)
    except OSError as error:
        raise SigningKeyUnusable(
            f"The audit signing key {path} cannot be read: {error.strerror}. Give it to the user that runs Gaby, "
            "or restore it from your backup."
        ) from error
    if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
        raise SigningKeyUnusable(
            f"Others on this machine can use the audit signing key {path}. Run `chmod 600 {path}`, and if somebody "
            "may have copied it, `gaby audit rotate-key`."
        )
    return read_pem(pem, str(path))


def load_or_create(path: Path) -> SigningKey:
    if not os.path.lexists(path):
        SigningKey.generate().save(path)
    return load(path)


def sync_folder(folder: Path) -> None:
    """Make a new or renamed file survive a power cut."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def read_pem(pem: bytes, where: str) -> SigningKey:
    try:
        private = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise SigningKeyUnusable(f"{where} is not an Ed25519 private key in PEM form. Restore it from your backup.")
    return SigningKey(private)
