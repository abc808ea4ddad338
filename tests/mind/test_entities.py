"""Typed values are found in a text, by kind, without overlaps."""

import pytest
from hypothesis import given

from gaby.mind.entities import KINDS, extract
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2")


def entity_values(text: str) -> list[tuple[str, str]]:
    return [(entity.kind, entity.value) for entity in extract(text)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("write to ada.l+x@acme.example, please", "email", "ada.l+x@acme.example"),
        ("see https://acme.example/a?b=1.", "url", "https://acme.example/a?b=1"),
        ("db01.acme.example is down", "host", "db01.acme.example"),
        ("db01.corp.local:5432 is down", "host", "db01.corp.local"),
        ("the server db-01 is down", "host", "db-01"),
        ("from 192.0.2.44", "ip", "192.0.2.44"),
        ("on 127.0.0.1:8080", "ip", "127.0.0.1"),
        ("at 2001:db8::1", "ip", "2001:db8::1"),
        ("550e8400-e29b-41d4-a716-446655440000", "uuid", "550e8400-e29b-41d4-a716-446655440000"),
        ("INV-2041 is wrong", "id", "INV-2041"),
        ("about #4711", "id", "#4711"),
        ("customer cus_9s8f", "id", "cus_9s8f"),
        ("ORD-77", "id", "ORD-77"),
        ("order 77120 is late", "id", "77120"),
        ("customer no. 4711-08", "id", "4711-08"),
        ("E1234", "error_code", "E1234"),
        ("ORA-00600", "error_code", "ORA-00600"),
        ("AADSTS50076", "error_code", "AADSTS50076"),
        ("HTTP 502 again", "error_code", "HTTP 502"),
        ("an error 429 now", "error_code", "error 429"),
        ("503 Service Unavailable", "error_code", "503 Service Unavailable"),
        ("it returns 404 for all", "error_code", "404"),
        ("got ECONNREFUSED", "error_code", "ECONNREFUSED"),
        ("java.net.ConnectException: x", "error_code", "java.net.ConnectException"),
        ("invalid_grant", "error_code", "invalid_grant"),
        ("fails with LF-409", "error_code", "LF-409"),
        ("on 2026-03-12", "date", "2026-03-12"),
        ("on 12 March 2026", "date", "12 March 2026"),
        ("on March 12th, 2026", "date", "March 12th, 2026"),
        ("on 03/04/2026", "date", "03/04/2026"),
        ("at 10:15 CET", "time", "10:15 CET"),
        ("at 5 pm", "time", "5 pm"),
        ("249.00 USD", "money", "249.00 USD"),
        ("€1.234,56", "money", "€1.234,56"),
        ("20 dollars", "money", "20 dollars"),
        ("since v2.8.0", "version", "v2.8.0"),
        ("Chrome 121.0", "version", "121.0"),
        ("user jsmith cannot", "username", "jsmith"),
        ("login: anna", "username", "anna"),
        ("ACME\\bob", "username", "ACME\\bob"),
        ("in /var/log/nginx/error.log", "path", "/var/log/nginx/error.log"),
        ("C:\\Users\\bob\\a.xlsx", "path", "C:\\Users\\bob\\a.xlsx"),
        ("open report.csv", "path", "report.csv"),
        ("call +44 20 7946 0958", "phone", "+44 20 7946 0958"),
        ('the group "Billing viewers"', "quoted", "Billing viewers"),
        ("after 30 minutes", "quantity", "30 minutes"),
        ("95% used", "quantity", "95%"),
    ],
)
def test_a_value_is_found_by_its_form_or_by_the_word_before_it(text: str, kind: str, value: str) -> None:
    assert (kind, value) in entity_values(text)


@pytest.mark.parametrize(
    "text",
    [
        "The user cannot sign in and the account is locked.",
        "UTF-8, SHA-256 and ISO-8859-1 on A4",
        "order 3 of them, account 2 of them",
        "a ratio of 1:2:3",
        "done.It works and/or not",
        "",
    ],
)
def test_ordinary_words_and_numbers_are_nothing(text: str) -> None:
    assert entity_values(text) == []


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("12 March 2026", "2026-03-12"),
        ("13/04/2026", "2026-04-13"),
        ("04/13/2026", "2026-04-13"),
        ("04/04/2026", "2026-04-04"),
        ("03/04/2026", None),
        ("15.11.2026", "2026-11-15"),
        ("12 March", None),
        ("2026-03-12T10:14:05Z", "2026-03-12T10:14:05Z"),
        ("€1.234,56", "1234.56 EUR"),
        ("1,200 USD", "1200 USD"),
        ("$12k", None),
        ("5 pm", "17:00"),
        ("12 am", "00:00"),
        ("#4711", "4711"),
        ("HTTP 502", "502"),
        ("DB01.Acme.Example", "db01.acme.example"),
    ],
)
def test_one_spelling_is_given_only_where_nobody_can_doubt_it(text: str, normal: str | None) -> None:
    (entity,) = extract(text)
    assert entity.normal == normal
    assert entity.value == text


def test_what_the_text_calls_a_number_is_kept() -> None:
    labels = {entity.value: entity.label for entity in extract("invoice 88213, 30 minutes, PO number 4500")}
    assert labels == {"88213": "invoice", "30 minutes": "minute", "4500": "purchase order"}


def test_the_longer_of_two_wins() -> None:
    assert entity_values("https://acme.example/INV-2041?mail=ada@acme.example") == [
        ("url", "https://acme.example/INV-2041?mail=ada@acme.example")
    ]


def test_a_certain_kind_is_worth_more_than_quotation_marks() -> None:
    assert entity_values('"order INV-2041 failed"') == [("id", "INV-2041")]
    assert entity_values('"order INV-2041"') == [("id", "INV-2041")]


def test_nothing_is_taken_from_inside_of_a_secret() -> None:
    assert entity_values("password: INV-2041") == []
    assert entity_values("card 4111 1111 1111 1111") == []


def test_what_the_redactor_left_is_as_good_as_the_value() -> None:
    assert entity_values("[email:1-k7qd2m] and [phone:2.1-k7qd2m]") == [
        ("email", "[email:1-k7qd2m]"),
        ("phone", "[phone:2.1-k7qd2m]"),
    ]


@given(hostile_texts)
def test_entities_are_pieces_of_the_text_in_order_without_overlaps(text: str) -> None:
    entities = extract(text)
    end = 0
    for entity in entities:
        assert entity.start >= end
        assert text[entity.start : entity.end] == entity.value != ""
        assert entity.kind in KINDS
        end = entity.end
    assert entities == extract(text)


# Every pattern reads on by at most a bounded number of characters, so this takes a second and not a day.
@pytest.mark.parametrize(
    "piece",
    ["a", "1", "1 ", "a.", "A-", "a_1", "/a", '"a', "user ", "order 1", "1.1.", "error ", "https://a.co ", "1:2:", "€1",
     "x.y.Error "],
)  # fmt: skip
def test_much_of_one_thing_is_no_trouble(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert all(text[entity.start : entity.end] == entity.value for entity in extract(text))
