"""Notes, checkpoints and cosignatures: the published examples verify, and nothing else does."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from gaby.audit import Malformed
from gaby.audit.notes import (
    LOG_KEY,
    WITNESS_KEY,
    VerifierKey,
    checkpoint_body,
    cosign,
    cosigned_at,
    is_signed_by,
    parse_checkpoint,
    parse_note,
    parse_signatures,
    parse_size,
    parse_verifier_key,
    sign_note,
)
from gaby.audit.signing_key import SigningKey

pytestmark = pytest.mark.promise("A3")

EXAMPLE_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
EXAMPLE_NOTE = (
    "This is an example message.\n\n— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
).encode()
LOG, WITNESS = (SigningKey(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)) for number in (1, 2))
ORIGIN = "gaby.audit/0123456789abcdef"
LOG_VKEY = VerifierKey(ORIGIN, LOG_KEY, LOG.public_key)
WITNESS_VKEY = VerifierKey("witness.example/w1", WITNESS_KEY, WITNESS.public_key)
BODY = checkpoint_body(ORIGIN, 7, bytes(range(32)))
NOTE = sign_note(BODY, ORIGIN, LOG)
LINE = cosign(BODY, WITNESS_VKEY.name, WITNESS, time=1_700_000_000)


def test_the_example_of_the_specification_verifies() -> None:
    key = parse_verifier_key(EXAMPLE_KEY, kind=LOG_KEY)
    assert str(key) == EXAMPLE_KEY
    assert is_signed_by(parse_note(EXAMPLE_NOTE), key) is True
    forged = parse_note(EXAMPLE_NOTE.replace(b"an example", b"no example"))
    assert is_signed_by(forged, key) is False
    assert is_signed_by(parse_note(EXAMPLE_NOTE.replace(b"com/foo ", b"com/fo0 ")), key) is None


def test_a_checkpoint_is_signed_by_the_log_and_then_by_the_witness() -> None:
    note = parse_note(NOTE + LINE)
    assert parse_checkpoint(note.body) == (ORIGIN, 7, bytes(range(32)))
    assert is_signed_by(note, LOG_VKEY) is True
    assert cosigned_at(note.body, note.signatures, WITNESS_VKEY) == 1_700_000_000
    assert cosigned_at(note.body, parse_signatures(LINE), WITNESS_VKEY) == 1_700_000_000


def test_a_cosignature_counts_for_its_own_key_time_and_checkpoint_only() -> None:
    signatures = parse_signatures(LINE)
    other = SigningKey.generate()
    assert cosigned_at(BODY, signatures, WITNESS_VKEY._replace(public_key=other.public_key)) is None
    assert cosigned_at(BODY, signatures, WITNESS_VKEY._replace(name="witness.example/w2")) is None
    assert cosigned_at(checkpoint_body(ORIGIN, 8, bytes(range(32))), signatures, WITNESS_VKEY) is None
    (one,) = signatures
    later = one._replace(signature=(1_700_000_001).to_bytes(8, "big") + one.signature[8:])
    assert cosigned_at(BODY, [later], WITNESS_VKEY) is None
    assert cosigned_at(BODY, [one, later], WITNESS_VKEY) is None
    # A log's own signature is not a cosignature, whatever it is called.
    assert cosigned_at(BODY, parse_note(NOTE).signatures, VerifierKey(ORIGIN, WITNESS_KEY, LOG.public_key)) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "name",
        "name+00000000+",
        EXAMPLE_KEY.replace("530d", "530e"),
        EXAMPLE_KEY.replace("foo", "bar"),
        EXAMPLE_KEY[:-4],
        EXAMPLE_KEY + "AAAA",
        EXAMPLE_KEY.replace("foo", "fo o"),
        str(WITNESS_VKEY),
    ],
)
def test_what_is_not_a_key_of_a_log_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse_verifier_key(text, kind=LOG_KEY)


@pytest.mark.parametrize("text", ["", "00", "01", "-1", "+1", "1 ", " 1", "1_0", "٣", "1.0", "9223372036854775808"])
def test_a_size_has_one_spelling(text: str) -> None:
    with pytest.raises(Malformed):
        parse_size(text)


@pytest.mark.parametrize(
    "body",
    [b"\n", b"a\n1\n", b"a\n\n1\nAAAA\n", b"a\n1\nAAAA\n", BODY[:-1], BODY.replace(b"\n7\n", b"\n07\n"), BODY + b"\n"],
)
def test_what_is_not_a_checkpoint_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        parse_checkpoint(body)


@given(st.binary(max_size=400) | st.binary(max_size=60).map(lambda data: NOTE + data) | st.just(NOTE[:-1]))
def test_no_bytes_break_the_parser(data: bytes) -> None:
    try:
        note = parse_note(data)
    except Malformed:
        return
    assert note.signatures
    assert note.body.endswith(b"\n")


@given(st.integers(0, len(NOTE + LINE) - 1), st.integers(1, 255))
def test_no_changed_byte_of_a_cosigned_note_keeps_both_signatures(at: int, change: int) -> None:
    data = bytearray(NOTE + LINE)
    data[at] ^= change
    try:
        note = parse_note(bytes(data))
    except Malformed:
        return
    holds = is_signed_by(note, LOG_VKEY) is True and cosigned_at(note.body, note.signatures, WITNESS_VKEY) is not None
    assert not holds
