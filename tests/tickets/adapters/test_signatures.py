"""A signature is over the raw bytes and the time; nothing else that is sent makes it right."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.tickets.adapters.adapter import WebhookRefused
from gaby.tickets.adapters.signatures import HEADER, check_stamped, digest, is_signed, signed_header

pytestmark = pytest.mark.promise("T4")
SECRET = "a secret that is long enough"
BODY = b'{"ticket": 1}'
NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
RIGHT = signed_header(SECRET, BODY, NOW)
HEX = RIGHT.partition("v1=")[2]
AT = int(NOW.timestamp())


def check(header: str, *, body: bytes = BODY, now: datetime = NOW, secret: str = SECRET) -> str:
    return check_stamped(secret, {HEADER: header}, body, now)


def test_what_was_signed_is_believed_and_known_again() -> None:
    assert check(RIGHT) == check(f" v1={HEX.upper()} , t={AT}") == check(f"{RIGHT},v1={'0' * 64}")
    assert check(RIGHT) != check(signed_header(SECRET, BODY, NOW + timedelta(seconds=1)))


@pytest.mark.parametrize(
    "header",
    [
        *("", "t", "t=", "v1=", ",", "=", "t=1", f"v1={HEX}", f"t={AT}", f"t={AT},v1=", f"t={AT},v1={HEX[:-1]}"),
        *(f"t={AT},v2={HEX}", f"t={AT},v1=sha256={HEX}", f"t={AT},t={AT},v1={HEX}", f"t=-{AT},v1={HEX}"),
        *(f"t={AT}.0,v1={HEX}", f"t=\u0661{AT},v1={HEX}", f"t={AT + 1},v1={HEX}", f"t={'9' * 400},v1={HEX}"),
        *(f"t={AT},v1=" + "\u00e9" * 64, f"t={AT}," + f"v1={HEX}," * 6, f"t={AT},v1={HEX}" + " " * 2000, "\ud800"),
    ],
)
def test_a_hostile_header_is_refused(header: str) -> None:
    with pytest.raises(WebhookRefused):
        check(header)


def test_another_body_secret_or_no_secret_is_refused() -> None:
    for body, secret in ((BODY + b" ", SECRET), (BODY, SECRET + "x"), (BODY, "")):
        with pytest.raises(WebhookRefused):
            check(RIGHT, body=body, secret=secret)
    assert not is_signed("", BODY, digest("", BODY))
    with pytest.raises(WebhookRefused):
        check_stamped(SECRET, {}, BODY, NOW)


def test_five_minutes_either_way_and_no_more() -> None:
    for seconds in (-300, 0, 300):
        assert check(RIGHT, now=NOW + timedelta(seconds=seconds))
    for seconds in (-301, 301, 10**7):
        with pytest.raises(WebhookRefused):
            check(RIGHT, now=NOW + timedelta(seconds=seconds))


def test_the_time_and_the_body_cannot_be_shifted_into_each_other() -> None:
    """`1.23` could be the time 1 with `23`, or `1.2` with `3`."""
    at = datetime.fromtimestamp(1, UTC)
    shifted = signed_header(SECRET, b"2.3", at).replace("t=1,", "t=1.2,")
    with pytest.raises(WebhookRefused):
        check(shifted, body=b"3", now=at)


@given(st.text(max_size=120) | st.text(alphabet="tv1=,0123456789abcdef. ", max_size=120))
def test_no_header_that_somebody_makes_up_is_believed(header: str) -> None:
    with pytest.raises(WebhookRefused):
        check(header)
