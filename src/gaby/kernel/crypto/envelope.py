"""Sealed texts: AES-256-GCM in a small versioned envelope, bound to the place that it belongs to."""

import base64
import binascii
import secrets
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gaby.kernel.crypto.errors import CannotOpen
from gaby.kernel.ids import Random

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
KEY_ID_BYTES = 8
_VERSION = b"\x01"
_PREFIX = "gs1."


def binding(workspace_id: UUID, *parts: str) -> bytes:
    """What a sealed text is tied to. Each part carries its length, so no two bindings can look alike."""
    encoded = [workspace_id.bytes, *(part.encode("utf-8", "surrogatepass") for part in parts)]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def key_id(key: bytes) -> bytes:
    """Tells keys apart without telling anything about them."""
    return sha256(b"gaby key id\0" + key).digest()[:KEY_ID_BYTES]


@dataclass(frozen=True)
class SealedEnvelope:
    """A version byte, the id of the key, the nonce, and the ciphertext with its tag."""

    key_id: bytes
    nonce: bytes
    box: bytes

    def to_bytes(self) -> bytes:
        return _VERSION + self.key_id + self.nonce + self.box

    def to_text(self) -> str:
        return _PREFIX + base64.urlsafe_b64encode(self.to_bytes()).decode().rstrip("=")

    @classmethod
    def from_bytes(cls, data: bytes) -> "SealedEnvelope":
        body = 1 + KEY_ID_BYTES + NONCE_BYTES
        if data[:1] != _VERSION or len(data) < body + TAG_BYTES:
            raise CannotOpen
        return cls(data[1 : 1 + KEY_ID_BYTES], data[1 + KEY_ID_BYTES : body], data[body:])

    @classmethod
    def from_text(cls, text: str) -> "SealedEnvelope":
        encoded = text.removeprefix(_PREFIX)
        try:
            data = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
        except (ValueError, binascii.Error):
            raise CannotOpen from None
        envelope = cls.from_bytes(data)
        # Base64 has several spellings for the same bytes; only one is ours, so that no change goes unnoticed.
        if envelope.to_text() != text:
            raise CannotOpen
        return envelope


def seal(key: bytes, plain: bytes, bound_to: bytes, random: Random = secrets.token_bytes) -> SealedEnvelope:
    used, nonce = key_id(key), random(NONCE_BYTES)
    return SealedEnvelope(used, nonce, AESGCM(key).encrypt(nonce, plain, _VERSION + used + bound_to))


def open_sealed(key: bytes, envelope: SealedEnvelope, bound_to: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(envelope.nonce, envelope.box, _VERSION + envelope.key_id + bound_to)
    except InvalidTag:
        raise CannotOpen from None
