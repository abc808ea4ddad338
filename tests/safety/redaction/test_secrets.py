"""Secrets are found by their beginning, their form, or the word that announces them."""

import pytest

from gaby.safety.redaction.credentials import is_random
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.secrets import find_secrets
from gaby.safety.redaction.spans import SpanCertainty
from tests.safety.redaction.looking import found_texts

pytestmark = pytest.mark.promise("S5")

# Put together here, so that nobody takes this file for a leak.
A = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1B"
LOW = "ab3def6hij9lmn2pqr5tuv8xyz1b"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + "dBjftJeZ4CVP_mB92K27uh"
PEM = "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nx4RCg==\n-----END RSA PRIVATE KEY-----"


def looked(text: str) -> list[tuple[str, str, SpanCertainty]]:
    return [(text[span.start : span.end], span.kind, span.certainty) for span in find_secrets(ScannedText(text))]


@pytest.mark.parametrize(
    "key",
    [
        "sk-" + A,
        "sk-" + A[:16],
        "sk-proj-" + A,
        "sk_live_" + A,
        "pk_test_" + A[:10],
        "rk_live_" + A,
        "whsec_" + A,
        "ghp_" + A,
        "gho_" + A[:20],
        "ghu_" + A,
        "ghs_" + A,
        "ghr_" + A,
        "github_pat_" + A,
        "glpat-" + A[:16],
        "xoxb-" + "123456789012-" + A,
        "xoxp-" + A[:11],
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "ASIA" + "ABCDEFGHIJ234567",
        "AIza" + A + "ab",
        "ya29." + A,
        "SG." + A[:16] + "." + A[:16],
        "npm_" + A + "ab",
        "hf_" + A + "ab",
        "dop_v1_" + "0123456789abcdef" * 4,
        "gaby-" + "abcdefghijkl." + "abcdefghijklmnopqrstuvwxyz" * 2,
        "gaby-" + A,
    ],
)
def test_a_key_is_known_by_its_beginning(key: str) -> None:
    for text in (key, f"it is {key}, ok", f"({key})", f'"{key}"', f"x/{key}"):
        assert (key, "api_key", SpanCertainty.SURE) in looked(text)
    assert all(certainty < SpanCertainty.SURE for _, _, certainty in looked(f"x{key}"))


@pytest.mark.parametrize(
    "text",
    [
        "sk-" + A[:15],
        "ask-" + A,
        "task-oriented-planning-session",
        "ghp_" + A[:19],
        "ghx_" + A,
        "glpat-" + A[:15],
        "AKIA" + "ABCDEFGHIJKLMNO",
        "AKIA" + "ABCDEFGHIJKLMNOPQ",
        "AIza" + A,
        "550e8400-e29b-41d4-a716-446655440000",
        "3f2b1c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b",
        "a-very-long-hyphenated-word-2026",
        "https://acme.example/a/very/long/path/index.html",
        "gaby-connectors",
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx",
        "",
    ],
)
def test_other_long_words_are_no_key(text: str) -> None:
    assert found_texts(find_secrets, text) == []


def test_a_token_of_three_parts_is_found() -> None:
    for text in (JWT, f"got {JWT}.", f'"{JWT}"'):
        assert found_texts(find_secrets, text)[0].rstrip(".") == JWT
    assert looked(JWT) == [(JWT, "token", SpanCertainty.SURE)]
    unsigned = JWT.rpartition(".")[0] + "."
    assert looked(f"x {unsigned} y") == [(unsigned, "token", SpanCertainty.SURE)]


def test_every_token_in_a_row_is_found() -> None:
    assert found_texts(find_secrets, f"{JWT}={JWT}/x") == [JWT, JWT]


@pytest.mark.parametrize("name", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "PGP "])
def test_a_private_key_is_found_whole(name: str) -> None:
    block = " BLOCK" if name == "PGP " else ""
    key = f"-----BEGIN {name}PRIVATE KEY{block}-----\nMIIE\nabcd==\n-----END {name}PRIVATE KEY{block}-----"
    assert looked(f"see\n{key}\nbye") == [(key, "private_key", SpanCertainty.SURE)]
    escaped = key.replace("\n", "\\n")
    assert looked(f'{{"k": "{escaped}"}}') == [(escaped, "private_key", SpanCertainty.SURE)]


def test_two_private_keys_are_two() -> None:
    assert found_texts(find_secrets, f"{PEM}\n and {PEM}.") == [PEM, PEM]


def test_a_private_key_without_an_end_takes_the_rest() -> None:
    text = "hello " + PEM[:50]
    assert found_texts(find_secrets, text) == [PEM[:50]]


def test_what_is_public_is_no_secret() -> None:
    certificate = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----"
    public = "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----"
    assert found_texts(find_secrets, f"{certificate}\n{public}") == []
    assert found_texts(find_secrets, f"{certificate}\n{PEM}") == [PEM]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://gaby:hunter2@db.example/x", "hunter2"),
        ("https://:hunter2@acme.example", "hunter2"),
        ("redis://u:p@ss@host", "p@ss"),
        ("x://u:p@[::1]/", "p"),
    ],
)
def test_a_password_in_an_address_is_found(text: str, secret: str) -> None:
    assert looked(text) == [(secret, "password", SpanCertainty.SURE)]


def test_a_password_on_a_command_line_is_found() -> None:
    assert looked("curl -u admin:hunter2 https://x.example") == [("hunter2", "password", SpanCertainty.LIKELY)]
    assert looked("curl -u 'admin:hunter2' x") == [("hunter2", "password", SpanCertainty.LIKELY)]
    assert looked("curl -uadmin:abc") == [("abc", "password", SpanCertainty.LIKELY)]
    assert looked("curl -u admin:ab") == []
    assert looked("curl -u admin") == []


@pytest.mark.parametrize(
    "text", ["https://acme.example:8080/a@b", "https://ada@acme.example", "https://u:p /@x", "a://u:@h", "//u:p@h"]
)
def test_other_addresses_have_no_password(text: str) -> None:
    assert found_texts(find_secrets, text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2", "hunter2"),
        ("password = hunter2;", "hunter2"),
        ("Password: hunter2", "hunter2"),
        ("passwd: a", "a"),
        ('"password": "hunter 2"', "hunter 2"),
        ("'password': 'hunter 2'", "hunter 2"),
        ('\\"password\\": \\"hunter2\\"', "hunter2"),
        ("password := hunter2", "hunter2"),
        ("password=>hunter2", "hunter2"),
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("my-password: hunter2", "hunter2"),
        ("pwd=hunter2&x=1", "hunter2"),
        ("passphrase: hunter2", "hunter2"),
        ("passcode: 1234", "1234"),
        ("Passwort: hunter2", "hunter2"),
        ("Kennwort: hunter2", "hunter2"),
        ("contrasena: hunter2", "hunter2"),
        ("secret=abc", "abc"),
        ("client_secret=abc", "abc"),
        ("client-secret: abc", "abc"),
        ("secret_key=abc", "abc"),
        ("aws_secret_access_key = abc", "abc"),
        ("api_key=abc", "abc"),
        ("apikey: abc", "abc"),
        ("API-Key: abc", "abc"),
        ("access_key=abc", "abc"),
        ("private_key=abc", "abc"),
        ("auth_token=abc", "abc"),
        ("access_token=abc", "abc"),
        ("refresh-token: abc", "abc"),
        ("id_token=abc", "abc"),
        ("session_token=abc", "abc"),
        ("api_token=abc", "abc"),
        ("X-Api-Key: abc", "abc"),
        ("mypassword=abc", "abc"),
        ("pw=abc", "abc"),
        ("PW: abc", "abc"),
    ],
)
def test_a_value_after_a_strong_word_is_a_password(text: str, secret: str) -> None:
    assert set(looked(text)) == {(secret, "password", SpanCertainty.SURE)}


@pytest.mark.parametrize(
    "value", ["***", "xxxx", "<your-password>", "${PASSWORD}", "{{ x }}", "null", "True", "wrong", "[x"]
)
def test_a_stand_in_is_no_password(value: str) -> None:
    assert found_texts(find_secrets, f"password={value}") == []


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("key=" + LOW, LOW, "api_key"),
        ('"token": "' + A + '"', A, "api_key"),
        ("credentials: " + A, A, "api_key"),
        ("the key " + A + ".", A, "api_key"),
        ("my token is " + A + "!", A, "api_key"),
        ("Schlüssel key ist " + A, A, "api_key"),
        ("the token is now: " + A, A, "api_key"),
        ("my password is hunter2.", "hunter2", "password"),
        ("password was `Tr0ub4dor`", "Tr0ub4dor", "password"),
        ("password correct-horse1", "correct-horse1", "password"),
        ("password is a1b2c3", "a1b2c3", "password"),
    ],
)
def test_random_text_after_a_word_is_a_secret(text: str, secret: str, kind: str) -> None:
    assert [(one, of) for one, of, _ in looked(text)] == [(secret, kind)]


def test_what_is_told_is_less_certain_than_what_is_assigned() -> None:
    assert looked("password hunter2") == [("hunter2", "password", SpanCertainty.LIKELY)]
    assert looked("key " + A) == [(A, "api_key", SpanCertainty.LIKELY)]
    assert looked("key: " + A) == [(A, "api_key", SpanCertainty.SURE)]


@pytest.mark.parametrize(
    "text",
    [
        "password is wrong",
        "password doesn't work",
        "password re-sent",
        "password 1234567",
        "password is a1b2c",
        "the password reset page",
        "passed 12 of 14 tests",
        "key: value",
        "token: 5 per minute",
        "max_tokens=4096",
        "primary key id",
        "keyboard: qwertz",
        "token=" + "a" * 30,
        "key=ABCDEFGHIJKLMNOPQRST",
        "password:",
        "password=",
        "a secretary: ada",
        "monkey: bananas",
    ],
)
def test_ordinary_sentences_have_no_secret(text: str) -> None:
    assert found_texts(find_secrets, text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc12345", "abc12345"),
        ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("Authorization: Token abcd1234==", "abcd1234=="),
        ("-H 'Authorization: Bearer " + A + "'", A),
        ("with Bearer  abcdefghijklmnop there", "abcdefghijklmnop"),
        ("authorization=abc12345", "abc12345"),
        ('"authorization": "Basic abcdefgh"', "abcdefgh"),
    ],
)
def test_what_authorizes_is_a_token(text: str, secret: str) -> None:
    assert (secret, "token", SpanCertainty.SURE) in looked(text)


@pytest.mark.parametrize(
    "text",
    [
        "the bearer of bad news",
        "bearer abcdefgh",
        "bearer short1",
        "basic dXNlcjpwYXNz",
        "Bearer abcdefghijklmno",
        "authorization: required",
        "authorization: pending",
        "authorization error4011",
    ],
)
def test_the_word_alone_authorizes_nothing(text: str) -> None:
    assert found_texts(find_secrets, text) == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("abcdefgh12345678", True),
        ("abcdefgh1234567", False),
        ("abcdefg1abcdefg1", True),
        ("abcdef11abcdef11", False),
        ("abcdefghijklmnop", False),
        ("1234567890123456", False),
        ("12345678901-3456", False),
    ],
)
def test_random_means_long_various_and_mixed(text: str, answer: bool) -> None:
    assert is_random(text) is answer
