"""E-mail addresses are found with all of their name and nothing of the sentence."""

import pytest

from gaby.safety.redaction.emails import domain_end, find_emails
from gaby.safety.redaction.spans import SpanCertainty
from tests.safety.redaction.looking import certainties, found_texts

pytestmark = pytest.mark.promise("S5")


@pytest.mark.parametrize(
    "address",
    [
        "ada@acme.example",
        "Ada.Lovelace+tickets@mail.acme.example",
        "o'brien@acme.example",
        "ada_l-1@acme-corp.co.uk",
        "иван@почта.рф",
        "jörg@müller.example",
        "ada@xn--bcher-kva.example",
        "ada@acme.xn--p1ai",
        "a@b.co",
        "!#$%ada@acme.example",
        "ada@" + "a" * 63 + ".example",
        "a" * 64 + "@acme.example",
    ],
)
def test_an_address_is_found_whole(address: str) -> None:
    assert found_texts(find_emails, address) == [address]
    assert found_texts(find_emails, f"Write to {address}.") == [address]
    assert found_texts(find_emails, f"<{address}>, (or so)") == [address]
    assert certainties(find_emails, address) == [SpanCertainty.SURE]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("mailto:ada@acme.example?subject=x", "ada@acme.example"),
        ("to=ada@acme.example&x=1", "ada@acme.example"),
        ("'ada@acme.example'", "ada@acme.example"),
        ("`ada@acme.example`", "ada@acme.example"),
        ("/ada@acme.example/", "ada@acme.example"),
        ("https://x.example/a/ada@acme.example", "ada@acme.example"),
        ("x|ada@acme.example|y", "ada@acme.example"),
        ("q?ada@acme.example", "ada@acme.example"),
        ("...ada@acme.example...", "ada@acme.example"),
        ("{ada@acme.example}", "ada@acme.example"),
        ("*ada@acme.example*", "ada@acme.example"),
        ("ada@acme.example-", "ada@acme.example"),
        ("ada@acme.example_", "ada@acme.example"),
        ("ada@acme.example, eve@acme.example", "ada@acme.example"),
    ],
)
def test_what_stands_around_an_address_is_left(text: str, address: str) -> None:
    assert found_texts(find_emails, text)[0] == address


def test_a_colon_before_an_address_is_not_always_a_password() -> None:
    assert found_texts(find_emails, "http://x:y.example/z :ada@acme.example") == ["ada@acme.example"]
    assert found_texts(find_emails, "to:ada@acme.example") == ["ada@acme.example"]
    assert found_texts(find_emails, "x://" + "u" * 60 + ":p@db.acme.example") == []
    assert found_texts(find_emails, "x://" + "u" * 61 + ":p@db.acme.example") == []
    assert found_texts(find_emails, "x://" + "u" * 62 + ":p@db.acme.example") == ["p@db.acme.example"]


def test_a_sign_at_the_very_start_does_not_end_the_search() -> None:
    assert found_texts(find_emails, "@x ada@acme.example") == ["ada@acme.example"]


def test_several_addresses_are_all_found() -> None:
    text = "ada@acme.example,eve@acme.example; bob@byte.example"
    assert found_texts(find_emails, text) == ["ada@acme.example", "eve@acme.example", "bob@byte.example"]


@pytest.mark.parametrize(
    "address",
    [
        "ada (at) acme (dot) example",
        "ada[at]acme[dot]example",
        "ada (at) acme.example",
        "ada [at] mail dot acme dot example",
        "Ada.Lovelace+x (AT) Acme (DOT) example",
        "ada( at)acme( dot )example",
    ],
)
def test_an_address_with_its_signs_spelled_out_is_found(address: str) -> None:
    assert found_texts(find_emails, f"reach me: {address}, ok?") == [address]
    assert certainties(find_emails, address) == [SpanCertainty.LIKELY]


@pytest.mark.parametrize(
    "text",
    [
        "@ada",
        "ada@",
        "ada@localhost",
        "ada @acme.example",
        "ada@ acme.example",
        "ada@acme.1",
        "ada@acme.c",
        "ada@.example",
        "ada@acme.exampl3",
        "ada@acme." + "a" * 25,
        "user@1.2.3.4",
        "@@@@",
        "look (at) this",
        "look (at it)",
        "'@acme.example",
        "postgres://gaby:hunter2@db.acme.example/x",
        "://gaby:hunter2@db.acme.example/x",
        "=@acme.example",
    ],
)
def test_other_uses_of_the_sign_are_no_address(text: str) -> None:
    assert found_texts(find_emails, text) == []


def test_a_top_level_domain_has_at_most_twenty_four_letters() -> None:
    assert found_texts(find_emails, "ada@acme." + "a" * 24) == ["ada@acme." + "a" * 24]


def test_a_domain_has_at_most_nine_labels() -> None:
    assert domain_end("a." * 8 + "example", 0) == 23
    assert domain_end("x a.bc", 2) == 6
    assert domain_end("a", 0) == 0
    assert domain_end("a.--", 0) == 0
