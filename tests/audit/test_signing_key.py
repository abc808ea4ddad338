"""The signing key: made with owner-only rights, and a file that cannot be trusted is refused with advice."""

from hashlib import sha256
from pathlib import Path
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gaby.audit.errors import SigningKeyUnusable
from gaby.audit.signing_key import SigningKey, load, load_or_create, read_pem, signature_holds
from gaby.audit.statements import sign_checkpoint, sign_rotation
from gaby.audit.trust import TrustedKeys
from gaby.kernel.ids import WorkspaceId

pytestmark = pytest.mark.promise("A3")


def test_a_new_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "audit.pem"
    made = load_or_create(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_or_create(path).id == made.id == sha256(made.public_key).hexdigest()[:16]


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "audit.pem"
    path.write_text("precious")
    with pytest.raises(SigningKeyUnusable):
        SigningKey.generate().save(path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o777])
def test_a_key_that_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "audit.pem"
    load_or_create(path)
    path.chmod(mode)
    with pytest.raises(SigningKeyUnusable, match="chmod 600"):
        load(path)


@pytest.mark.parametrize(
    "content", [b"", b"not a key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_a_damaged_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "audit.pem"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(SigningKeyUnusable, match="backup"):
        load(path)


def test_a_missing_or_strange_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SigningKeyUnusable, match="cannot be read"):
        load(tmp_path / "nothing")
    with pytest.raises(SigningKeyUnusable):
        load(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SigningKeyUnusable):
        load_or_create(tmp_path / "link")


def test_a_key_of_another_kind_is_refused() -> None:
    pem = Ed448PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(SigningKeyUnusable, match="Ed25519"):
        read_pem(pem, "the setting")


def test_a_folder_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SigningKeyUnusable, match="cannot be written"):
        load_or_create(tmp_path / "file" / "audit.pem")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_checkpoint_is_signed_over_everything_it_says() -> None:
    key = SigningKey.generate()
    checkpoint = sign_checkpoint(key, WorkspaceId(UUID(int=1)), 5, bytes(32), "2030-01-01T00:00:00.000000Z")
    assert checkpoint.note.startswith(b"gaby audit checkpoint v1\n")
    assert checkpoint.is_signed_by(key.public_key)
    for change in (
        {"workspace_id": UUID(int=2)},
        {"size": 6},
        {"root": bytes(31) + b"\x01"},
        {"ts": "2030-01-01T00:00:00.000001Z"},
        {"key_id": SigningKey.generate().id},
        {"signature": bytes(64)},
    ):
        assert not checkpoint.model_copy(update=change).is_signed_by(key.public_key)


def test_a_rotation_needs_both_keys() -> None:
    old, new = SigningKey.generate(), SigningKey.generate()
    rotation = sign_rotation(old, new, "2030-01-01T00:00:00.000000Z")
    assert rotation.holds()
    assert not rotation.model_copy(update={"new": SigningKey.generate().public_key}).holds()
    assert not rotation.model_copy(update={"old_signature": rotation.new_signature}).holds()


def test_what_is_no_key_or_no_signature_does_not_hold() -> None:
    assert not signature_holds(b"short", bytes(64), b"note")
    assert not signature_holds(bytes(32), b"short", b"note")
    assert TrustedKeys(()).public_key("nobody") is None
