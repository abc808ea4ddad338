"""Signed notes, checkpoints and cosignatures as witnesses exchange them.

The formats are C2SP's: signed-note, tlog-checkpoint and tlog-cosignature (Ed25519, `cosignature/v1`), so that any
witness that speaks them can watch a log of Gaby's, and `gaby audit witness` any log that speaks them.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from gaby.audit.errors import Malformed
from gaby.audit.signing_key import SigningKey, signature_holds
from gaby.audit.statements import KeyEntry

LOG_KEY = 1
WITNESS_KEY = 4
MAX_NOTE = 32_000
MAX_SIZE = 2**63 - 1
_MAX_SIGNATURES = 64
_DASH = "\u2014 "
_NAME = re.compile(r"[^\s+\x00-\x1f\x7f]{1,200}")
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


class VerifierKey(NamedTuple):
    """A public key with the name it signs under and what it signs, written `NAME+ID+KEY`."""

    name: str
    kind: int
    public_key: bytes

    @property
    def id(self) -> bytes:
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public_key).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{b64encode(bytes([self.kind]) + self.public_key).decode()}"


class NoteSignature(NamedTuple):
    name: str
    key_id: bytes
    signature: bytes


class SignedNote(NamedTuple):
    body: bytes
    """With its last line feed, as it was signed."""
    signatures: list[NoteSignature]


class TreeHead(NamedTuple):
    origin: str
    size: int
    root: bytes


def parse_verifier_key(text: str, *, kind: int) -> VerifierKey:
    name, _, rest = text.strip().partition("+")
    key_id, _, encoded = rest.partition("+")
    data = decode(encoded)
    if not is_name(name) or len(data) != 33 or data[0] != kind:
        raise Malformed("This is not a verifier key of the form NAME+ID+KEY for this purpose.")
    key = VerifierKey(name, data[0], data[1:])
    if key.id.hex() != key_id:
        raise Malformed("The id in the verifier key does not belong to its name and key. Copy it once more.")
    return key


def is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def origin_of(keys: Sequence[KeyEntry]) -> str:
    """The name of an installation's log. The first key gives it, and it stays when others take over."""
    return f"gaby.audit/{keys[0].key_id}"


def log_keys(keys: Sequence[KeyEntry]) -> list[VerifierKey]:
    return [VerifierKey(origin_of(keys), LOG_KEY, entry.public_key) for entry in keys]


def checkpoint_body(origin: str, size: int, root: bytes) -> bytes:
    return f"{origin}\n{size}\n{b64encode(root).decode()}\n".encode()


def sign_note(body: bytes, name: str, key: SigningKey) -> bytes:
    return body + b"\n" + _line(VerifierKey(name, LOG_KEY, key.public_key), key.sign(body))


def cosign(body: bytes, name: str, key: SigningKey, *, time: int) -> bytes:
    """The line that a witness adds: at this time, this was the largest tree it had seen of the log."""
    signature = key.sign(_cosigned(body, time))
    return _line(VerifierKey(name, WITNESS_KEY, key.public_key), time.to_bytes(8, "big") + signature)


def parse_note(data: bytes) -> SignedNote:
    """A note from anywhere, or `Malformed`. Nothing in it counts before a signature was checked."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Malformed("The note is not UTF-8.") from None
    if len(data) > MAX_NOTE or any(character < " " and character != "\n" for character in text):
        raise Malformed("The note is too long, or holds control characters.")
    body, separator, signatures = text.rpartition("\n\n")
    lines = signatures.split("\n")
    if not separator or lines.pop() or not 0 < len(lines) <= _MAX_SIGNATURES:
        raise Malformed("The note has no signatures, or too many, or does not end with a line feed.")
    return SignedNote(f"{body}\n".encode(), [_parse_signature(line) for line in lines])


def parse_signatures(data: bytes) -> list[NoteSignature]:
    """Signature lines alone, as a witness answers them."""
    return parse_note(b"body\n\n" + data).signatures


def parse_checkpoint(body: bytes) -> TreeHead:
    lines = body.decode().split("\n")
    if len(lines) < 4 or lines.pop() or not all(lines):
        raise Malformed("A checkpoint has an origin, a size and a root, and no empty lines.")
    root = decode(lines[2])
    if len(root) != 32:
        raise Malformed("The root of a checkpoint is a hash of 32 bytes in base64.")
    return TreeHead(lines[0], parse_size(lines[1]), root)


def parse_size(text: str) -> int:
    if not _DECIMAL.fullmatch(text) or int(text) > MAX_SIZE:
        raise Malformed("A size is a decimal number without leading zeroes.")
    return int(text)


def is_signed_by(note: SignedNote, key: VerifierKey) -> bool | None:
    """Whether the log's key signed; None when it does not say so at all."""
    signatures = [each for each in note.signatures if (each.name, each.key_id) == (key.name, key.id)]
    return (
        all(signature_holds(key.public_key, each.signature, note.body) for each in signatures) if signatures else None
    )


def cosigned_at(body: bytes, signatures: Sequence[NoteSignature], key: VerifierKey) -> int | None:
    """When the witness signed, if it did. A signature of its name and id that does not hold spoils them all."""
    times: list[int] = []
    for each in signatures:
        if (each.name, each.key_id) != (key.name, key.id):
            continue
        time = int.from_bytes(each.signature[:8], "big")
        if not 0 < time <= MAX_SIZE or not signature_holds(key.public_key, each.signature[8:], _cosigned(body, time)):
            return None
        times.append(time)
    return max(times, default=None)


def decode(text: str) -> bytes:
    """Standard base64 in its one spelling, or nothing."""
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        return b""
    return data if b64encode(data).decode() == text else b""


def _parse_signature(line: str) -> NoteSignature:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    data = decode(encoded)
    if not line.startswith(_DASH) or not is_name(name) or len(data) < 5:
        raise Malformed("A line of signatures is not of the form — NAME SIGNATURE.")
    return NoteSignature(name, data[:4], data[4:])


def _cosigned(body: bytes, time: int) -> bytes:
    return b"cosignature/v1\ntime %d\n" % time + body


def _line(key: VerifierKey, signature: bytes) -> bytes:
    return f"{_DASH}{key.name} {b64encode(key.id + signature).decode()}\n".encode()
