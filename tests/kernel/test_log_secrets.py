"""Secrets and hostile values: neither can be read from a log, nor break one."""

import json
import logging
import string
from collections.abc import Callable, Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from gaby.kernel.log import Style, get_log
from gaby.kernel.log.masking import MASK, is_secret_name, mask
from gaby.kernel.log.values import MAX_TEXT, plain
from tests.kernel.logs import captured

pytestmark = pytest.mark.promise("O1", "P1")

log = get_log("tests.log")
SECRET = "hunter2-hunter2"


@pytest.fixture(params=["json", "console"])
def written(request: pytest.FixtureRequest) -> Generator[Callable[[], str]]:
    with captured(request.param) as stream:
        yield stream.getvalue


@pytest.mark.parametrize(
    "name",
    [
        "password", "PASSWORD", "db_password", "userPassword", "new-password", "passwd", "passphrase", "secret",
        "client_secret", "token", "access_token", "csrfToken", "Authorization", "cookie", "Set-Cookie", "api_key",
        "apiKey", "APIKey", "x-api-key", "private_key", "master_key", "data_keys", "credentials", "jwt",
    ],
)  # fmt: skip
def test_a_value_is_hidden_by_its_name(name: str, written: Callable[[], str]) -> None:
    log.info("x", **{name: SECRET})
    log.info("x", nested={"list": [{name: SECRET}]}, **{name.upper(): [SECRET]})
    assert SECRET not in written()
    assert MASK in written()


@pytest.mark.parametrize("name", ["idempotency_key", "key", "author", "secretary", "broken", "path", "cookiecutter"])
def test_other_names_are_shown(name: str) -> None:
    assert not is_secret_name(name, "value")


def test_counts_of_tokens_and_absent_secrets_are_shown() -> None:
    assert plain({"input_tokens": 12, "password": None, "token": False}) == {
        "input_tokens": 12,
        "password": None,
        "token": False,
    }
    assert plain({"tokens": ["abc"], "password": 1234}) == {"tokens": MASK, "password": MASK}


@pytest.mark.parametrize(
    "text",
    [
        f"used gaby-ab12cd34.{SECRET} today",
        f"postgresql+psycopg://gaby:{SECRET}@db:5432/gaby",
        f"redis://:{SECRET}@cache",
        f"postgresql://gaby:p@ss/{SECRET}@db/gaby",
        f"host=db user=gaby password={SECRET} dbname=gaby",
        f"open http://localhost:8000/setup?token={SECRET}&next=/",
        f'{{"client_secret": "{SECRET}"}}',
        f"Authorization: Bearer {SECRET}",
    ],
)
def test_a_value_is_hidden_by_its_shape(text: str, written: Callable[[], str]) -> None:
    log.info(text, note=text, notes=[text], **{text: 1})
    log.error("failed", exc_info=RuntimeError(text), bytes=text.encode())
    logging.getLogger("sqlalchemy").warning("cannot connect to %s", text)
    assert SECRET not in written()


def test_what_is_around_a_secret_stays_readable() -> None:
    assert (
        mask(f"gaby-ab12.{SECRET} for postgresql://gaby:{SECRET}@db/x")
        == "gaby-ab12.*** for postgresql://gaby:***@db/x"
    )
    assert mask("https://example.org:8443/a?b=c") == "https://example.org:8443/a?b=c"


def test_a_pydantic_secret_stays_secret(written: Callable[[], str]) -> None:
    log.info("x", value=SecretStr(SECRET))
    assert SECRET not in written()


class Spiteful:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no")


class SpitefulError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


HOSTILE: list[Any] = [
    "two\nlines", "a\r\nb", "nul\0", "\ud800 lone", "\x1b[2J\x1b]0;title\x07", "\x9b31m", "line\u2028sep\x85",
    "\u202eevil", float("nan"), float("inf"), 10**6000, b"\xff\xfe", {"a\nb": 1}, {("tuple", "key"): 1}, {1, 2},
    Spiteful(), SpitefulError(), object, "x" * 1_000_000, list(range(10_000)), {"k": {i: i for i in range(10_000)}},
]  # fmt: skip


@pytest.mark.parametrize("style", ["json", "console"])
@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
def test_a_hostile_value_gives_one_bounded_harmless_line(value: Any, style: Style) -> None:
    with captured(style) as stream:
        log.info("x", value=value, nested=[{"value": value}])
        logging.getLogger("uvicorn.error").warning("saw %s", value)
        logging.getLogger("uvicorn.error").warning(value)
    text = stream.getvalue()
    assert len(text.splitlines()) == 3
    assert len(text) < 200_000
    text.encode()
    assert not set(text) & {"\x1b", "\x9b", "\0", "\x07", "\u202e"}


def test_a_value_that_contains_itself_ends(written: Callable[[], str]) -> None:
    ring: dict[str, Any] = {}
    ring["self"] = [ring]
    log.info("x", ring=ring)
    assert len(written().splitlines()) == 1


_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.binary(), st.uuids(), st.dates(), st.decimals(),
              st.text(st.characters(categories=None), max_size=50)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(st.characters(categories=None)), inner)),
    max_leaves=20,
)  # fmt: skip


@given(st.text(st.characters(categories=None)), st.dictionaries(st.text(st.characters(categories=None)), _values))
def test_any_fields_give_one_json_object(event: str, fields: dict[str, Any]) -> None:
    with captured() as stream:
        log.info(event.replace("%", "%%"), **{name: value for name, value in fields.items() if name != "event"})
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["level"] == "info"


_word = st.text(string.ascii_letters + string.digits + "_-", min_size=12, max_size=40)


@given(_word, _word, st.text(), st.text())
def test_no_api_key_and_no_url_password_survives_wherever_it_stands(
    prefix: str, secret: str, before: str, after: str
) -> None:
    assert secret not in mask(f"{before} gaby-{prefix}.{secret} {after}") or secret in before + after + prefix
    assert secret not in mask(f"{before} db://user:{secret}@host {after}") or secret in before + after


@given(st.text(alphabet="ab:/@=. gy-\"'token", max_size=MAX_TEXT))
def test_masking_is_stable(text: str) -> None:
    assert mask(mask(text)) == mask(text)
