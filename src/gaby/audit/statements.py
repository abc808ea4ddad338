"""What the key signs: checkpoints of a log, and the change from one key to the next."""

from base64 import b64decode, b64encode
from typing import Annotated, TypeVar
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer, ValidationError

from gaby.audit.errors import Malformed
from gaby.audit.rows import MAX_SEQ, is_timestamp
from gaby.audit.signing_key import SigningKey, key_id, signature_holds
from gaby.kernel.ids import WorkspaceId


def _from_hex(value: object) -> object:
    return bytes.fromhex(value) if isinstance(value, str) else value


def _from_base64(value: object) -> object:
    return b64decode(value, validate=True) if isinstance(value, str) else value


def _time(value: object) -> object:
    if not is_timestamp(value):
        raise ValueError("not a time of the form 2026-01-31T12:00:00.000000Z")
    return value


def _uuid(value: object) -> object:
    if isinstance(value, str) and str(parsed := UUID(value)) == value:
        return parsed
    return value


Digest = Annotated[
    bytes, Field(min_length=32, max_length=32), BeforeValidator(_from_hex), PlainSerializer(bytes.hex, when_used="json")
]
Base64 = Annotated[
    bytes, BeforeValidator(_from_base64), PlainSerializer(lambda data: b64encode(data).decode(), when_used="json")
]
PublicKey = Annotated[Base64, Field(min_length=32, max_length=32)]
Signature = Annotated[Base64, Field(min_length=64, max_length=64)]
Timestamp = Annotated[str, BeforeValidator(_time)]
Workspace = Annotated[WorkspaceId, BeforeValidator(_uuid)]
Size = Annotated[int, Field(ge=0, lt=MAX_SEQ)]

M = TypeVar("M", bound=BaseModel)


class Checkpoint(BaseModel, frozen=True, extra="forbid", strict=True):
    """The first `size` rows of a workspace's log have this Merkle root, says the key."""

    workspace_id: Workspace
    size: Size
    root: Digest
    ts: Timestamp
    key_id: str
    signature: Signature

    @property
    def note(self) -> bytes:
        return _checkpoint_note(self.workspace_id, self.size, self.root, self.ts, self.key_id)

    def is_signed_by(self, public_key: bytes) -> bool:
        return self.key_id == key_id(public_key) and signature_holds(public_key, self.signature, self.note)


class KeyRotation(BaseModel, frozen=True, extra="forbid", strict=True):
    """The old key names the new one and the new key accepts, so trust in either reaches the other."""

    old: PublicKey
    new: PublicKey
    ts: Timestamp
    old_signature: Signature
    new_signature: Signature

    def holds(self) -> bool:
        note = _rotation_note(self.old, self.new, self.ts)
        return signature_holds(self.old, self.old_signature, note) and signature_holds(
            self.new, self.new_signature, note
        )


class Anchor(BaseModel, frozen=True, extra="forbid", strict=True):
    """A checkpoint of the system's log as kept outside the database, with the key to check it by."""

    checkpoint: Checkpoint
    public_key: PublicKey


class KeyEntry(BaseModel, frozen=True, extra="forbid", strict=True):
    """A public key and, unless it is the first, how it came into office."""

    public_key: PublicKey
    rotation: KeyRotation | None = None

    @property
    def key_id(self) -> str:
        return key_id(self.public_key)


def sign_checkpoint(key: SigningKey, workspace_id: WorkspaceId, size: int, root: bytes, ts: str) -> Checkpoint:
    note = _checkpoint_note(workspace_id, size, root, ts, key.id)
    return Checkpoint(workspace_id=workspace_id, size=size, root=root, ts=ts, key_id=key.id, signature=key.sign(note))


def sign_rotation(old: SigningKey, new: SigningKey, ts: str) -> KeyRotation:
    note = _rotation_note(old.public_key, new.public_key, ts)
    return KeyRotation(
        old=old.public_key,
        new=new.public_key,
        ts=ts,
        old_signature=old.sign(note),
        new_signature=new.sign(note),
    )


def understand(model: type[M], value: object) -> M:
    """The statement in a parsed JSON value from anywhere, or `Malformed`."""
    try:
        statement = model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "value"
        raise Malformed(f"This is not a {model.__name__}: {where}: {first['msg']}.") from error
    if statement.model_dump(mode="json") != value:
        raise Malformed(f"This is not a {model.__name__} as Gaby writes it: a value has another spelling.")
    return statement


def _checkpoint_note(workspace_id: WorkspaceId, size: int, root: bytes, ts: str, key: str) -> bytes:
    return f"gaby audit checkpoint v1\n{workspace_id}\n{size}\n{root.hex()}\n{ts}\n{key}\n".encode()


def _rotation_note(old: bytes, new: bytes, ts: str) -> bytes:
    return f"gaby audit key rotation v1\n{old.hex()}\n{new.hex()}\n{ts}\n".encode()
