"""A word announces a secret in assignments, sentences, tags, tables and command lines, and in many languages."""

import pytest

from gaby.safety.redaction.credential_tables import secrets_in_column
from gaby.safety.redaction.credentials import find_credentials
from gaby.safety.redaction.one_time_codes import find_one_time_codes
from gaby.safety.redaction.secrets import find_secrets
from gaby.safety.redaction.token_rules import RULES, is_aws_secret, is_mixed
from tests.safety.redaction.looking import found_texts

pytestmark = pytest.mark.promise("S5")

MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password is\nhunter2!", "hunter2!"),
        ("Password:\n\n  hunter2!", "hunter2!"),
        ("<password>hunter2</password>", "hunter2"),
        ('<pwd type="x">hunter 2</pwd>', "hunter 2"),
        ('<add key="Password" value="hunter2"/>', "hunter2"),
        ("password for ada: hunter2", "hunter2"),
        ("passphrase: three plain words", "three plain words"),
        ("passphrase: 'quoted words'", "quoted words"),
        ("username/password: ada / hunter2", "hunter2"),
        ("creds: ada / hunter2", "hunter2"),
        ("pwd=a&b!c&x=1", "a&b!c"),
        ("PIN 4821", "4821"),
        ("pin code is 4821", "4821"),
        ("security code: 771", "771"),
        ("hasło to Zamek_1410", "Zamek_1410"),
        ("mot de passe : Soleil9", "Soleil9"),
        ("senha: c0rcovado", "c0rcovado"),
    ],
)
def test_an_announced_secret_is_found(text: str, secret: str) -> None:
    assert found_texts(find_credentials, text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "password_changed_at=2026-01-09T08:00:00+01:00",
        "pass: 812, fail: 3",
        "token=request.headers",
        "secret: prod/arn:aws:secretsmanager:eu-west-1:111122223333",
        "password: ${DB_PASSWORD}",
        "PASSWORD=DB_PASSWORD",
        "password = os.getenv(",
        "secret=https://vault.example/v1/secret/data/a1b2c3",
        "<password></password>",
        "PIN 12",
        "PIN 123456789",
        "creds are fine",
        "secretsmanager:eu-west-1a2b3c4d5e6f7g8",
        "",
    ],
)
def test_what_only_talks_about_a_secret_stays(text: str) -> None:
    assert found_texts(find_credentials, text) == []


def test_a_value_of_an_assignment_is_looked_at_once() -> None:
    assert found_texts(find_credentials, "key=" * 40) == []
    assert found_texts(find_credentials, "password=" + "password=" * 3 + "hunter2") == [
        "password=password=password=hunter2"
    ]


@pytest.mark.parametrize(
    ("table", "secrets"),
    [
        ("| user | password |\n|---|---|\n| ada | x1 |\n| bob | x2 |", ["x1", "x2"]),
        ("password\tuser\nx1\tada", ["x1"]),
        ("user,password\nada,x1\n\nelse", ["x1"]),
        ("user;password\r\nada;x1\r\n", ["x1"]),
        ("| password | x1 |", ["x1"]),
        ("| password |", []),
        ("| password |  |", []),
        ("user,password", []),
        ("user,password is x", []),
        ("the password", []),
        ("|" * 60 + " password |\n|", []),
        ("|password|", []),
    ],
)
def test_a_column_tells_where_its_cells_stand(table: str, secrets: list[str]) -> None:
    start = table.index("password")
    cells = secrets_in_column(table, start, start + len("password"))
    assert [table[begin:end] for begin, end in cells] == secrets


def test_a_table_ends_where_its_columns_do() -> None:
    table = "user,password\n" + "ada,x1\n" * 60 + "no more,rows,here"
    start = table.index("password")
    assert len(list(secrets_in_column(table, start, start + 8))) == 50
    long = "user,password\nada," + "x" * 5000
    assert len(list(secrets_in_column(long, 5, 13))) == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("your code is 482913", "482913"),
        ("Votre code de vérification est 903417".replace("é", "e"), "903417"),
        ("482913 is your Acme code", "482913"),
        ("enter code 482913", "482913"),
        ("otp: 039271", "039271"),
        ("verification code 12 34 56", "12 34 56"),
    ],
)
def test_a_one_time_code_is_found(text: str, code: str) -> None:
    assert set(found_texts(find_one_time_codes, text)) == {code}


@pytest.mark.parametrize(
    "text",
    ["your order code is 482913", "your code is 2026", "your code is broken on line 482913", "exit code 137", "482913"],
)
def test_other_codes_open_nothing(text: str) -> None:
    assert found_texts(find_one_time_codes, text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl --user ada:hunter2 https://x.example", "hunter2"),
        ("sshpass -p hunter2 ssh x", "hunter2"),
        ("mysql -u root -phunter2 shop", "hunter2"),
        ("net use Z: /user:ada hunter2", "hunter2"),
        ("Cookie: sid=abc; x=1", "sid=abc; x=1"),
        ("Set-Cookie: sid=abc; Path=/", "abc"),
        ("Set-Cookie: sid=abc", "abc"),
        ("curl -b 'sid=abc' x", "sid=abc"),
        ("https://x.example/?token=abcdefghijklmnop1", "abcdefghijklmnop1"),
        ("12345678:" + "AA" + "x" * 32 + "1", "12345678:" + "AA" + "x" * 32 + "1"),
        ("1:" + "AA" + "x" * 32 + "1", "AA" + "x" * 32 + "1"),
        ("PuTTY-User-Key-File-2: x\nPrivate-MAC: " + "0" * 40, "PuTTY-User-Key-File-2: x\nPrivate-MAC: " + "0" * 40),
    ],
)
def test_a_secret_is_known_by_where_it_stands(text: str, secret: str) -> None:
    assert secret in found_texts(find_secrets, text)


def test_a_token_that_was_wrapped_is_found_whole() -> None:
    token = "eyJ" + "hbGciOiJIUzI1NiJ9\n.eyJ" + "zdWIiOiIxMjM0In0\n.dBjftJeZ4CVP"
    assert token in found_texts(find_secrets, f"token:\n{token}")


def test_a_private_key_ends_at_its_end() -> None:
    key = "-----BEGIN " + "PRIVATE KEY-----\nabc\n-----END x\n-----END PRIVATE KEY-----"
    assert found_texts(find_secrets, key + "\nafter")[0] == key


def test_every_rule_has_a_vendor_once() -> None:
    vendors = [rule.vendor for rule in RULES]
    assert len(set(vendors)) == len(vendors)


def test_random_text_changes_between_capitals_small_letters_and_digits() -> None:
    assert is_mixed(MIXED)
    assert not is_mixed("SomeFactoryBeanProviderImpl42Test")
    assert not is_mixed("abcdefgh12345678")
    assert is_aws_secret(MIXED)
    assert not is_aws_secret(MIXED[:39])
    assert not is_aws_secret("1a2b3c4d5e" * 4)
    assert not is_aws_secret("A" * 20 + "a1" + "b" * 18)
    assert found_texts(find_secrets, f"it is {MIXED}.") == [MIXED]
    assert found_texts(find_secrets, "cio" + "SomefactorybeanproviderImpl42Tes") == []
