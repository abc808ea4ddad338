"""Two spellings are one mailbox only where every mail server agrees that they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.kernel.mail_addresses import canonical_address, same_address

pytestmark = pytest.mark.promise("S17")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@acme.example", "ADA@Acme.Example"),
        ("o'brien@acme.example", "O'Brien@acme.example"),
        ("ada@stra\u00dfe.example", "ada@xn--strae-oqa.example"),
        ("ada+till@acme.example", " ada+till@acme.example "),
    ],
)
def test_the_same_mailbox_in_two_spellings(one: str, other: str) -> None:
    assert same_address(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@stra\u00dfe.example", "ada@strasse.example"),
        ("stra\u00dfe@acme.example", "strasse@acme.example"),
        ("\u212aim@acme.example", "kim@acme.example"),
        ("kim@ac\u212a.example", "kim@ack.example"),
        ("\u017fam@acme.example", "sam@acme.example"),
        ("ad\ufb01@acme.example", "adfi@acme.example"),
        ("o'brien@acme.example", "brien@acme.example"),
        ("\u0430da@acme.example", "ada@acme.example"),
        ("\uff41da@acme.example", "ada@acme.example"),
        ("a\u200bda@acme.example", "ada@acme.example"),
        ("ada@acme.example.", "ada@acme.example"),
        ("ada@acme\u3002example", "ada@acme.example"),
        ("a.da@acme.example", "ada@acme.example"),
        ("ada+x@acme.example", "ada@acme.example"),
        ("\u0130da@acme.example", "ida@acme.example"),
        ("e\u0301va@acme.example", "\u00e9va@acme.example"),
    ],
)
def test_look_alikes_are_other_people(one: str, other: str) -> None:
    assert not same_address(one, other)


@pytest.mark.parametrize(
    "text",
    [
        "", "@", "ada", "ada@", "@acme.example", "a b@acme.example", '"a b"@acme.example', "ada@acme..example",
        "ada@-acme.example", "ada@[127.0.0.1]", "ada@acme.example\n", "ada\0@acme.example", "<ada@acme.example>",
        "ada@acme.example,eve@evil.example", "eve@evil.example(ada@acme.example",
        "a" * 65 + "@acme.example", "ada@" + "a" * 64 + ".example",
        "ada@" + "a." * 150 + "example", "ada@xn--\u00fc.example", "ada@\ud800.example",
    ],
)  # fmt: skip
def test_what_is_no_plain_address_is_the_same_as_nothing(text: str) -> None:
    assert canonical_address(text) is None
    assert not same_address(text, text)


def test_nobody_is_not_the_same_as_nobody() -> None:
    assert not same_address(None, None)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_an_address_or_none(local: str, domain: str) -> None:
    found = canonical_address(f"{local}@{domain}")
    assert found is None or canonical_address(found) == found
