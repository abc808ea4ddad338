"""Fields that say by their name or by a hint what they hold."""

import pytest

from gaby.safety.redaction.fields import NO_HINTS, FieldHints, kind_of_field
from gaby.safety.redaction.spans import Kind

pytestmark = pytest.mark.promise("S5")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password", "password"),
        ("Password", "password"),
        ("client_secret", "password"),
        ("cvv", "password"),
        ("apiKey", "api_key"),
        ("X-Api-Key", "api_key"),
        ("access_token", "token"),
        ("Set-Cookie", "token"),
        ("privateKey", "private_key"),
        ("firstName", "name"),
        ("last_name", "name"),
        ("Date of Birth", "birth_date"),
        ("SSN", "national_id"),
        ("mobile", "phone"),
        ("zip-code", "address"),
        ("MRN", "medical_id"),
    ],
)
def test_a_name_says_what_is_inside(name: str, kind: Kind) -> None:
    assert kind_of_field(name) == kind


@pytest.mark.parametrize("name", ["", "id", "key", "max_tokens", "password_hint", "name", "p" * 65, "__" * 31 + "pin"])
def test_other_names_say_nothing(name: str) -> None:
    assert kind_of_field(name) is None


def test_a_name_has_at_most_sixty_four_characters() -> None:
    assert kind_of_field("pin" + "_" * 61) == "password"
    assert kind_of_field("pin" + "_" * 62) is None


def test_a_hint_without_a_dot_is_meant_anywhere() -> None:
    hints = FieldHints({"nickname": "name"})
    assert hints.kind_at(("nickname",)) == "name"
    assert hints.kind_at(("a", "b", "nickname")) == "name"
    assert hints.kind_at(("nickname", "a")) is None
    assert hints.kind_at(()) is None


def test_a_hint_with_dots_is_meant_where_a_path_ends_so() -> None:
    hints = FieldHints({"customer.notes": "personal", "orders.*.to": "address"})
    assert hints.kind_at(("customer", "notes")) == "personal"
    assert hints.kind_at(("x", "customer", "notes")) == "personal"
    assert hints.kind_at(("customer", "x", "notes")) is None
    assert hints.kind_at(("customer",)) is None
    assert hints.kind_at(("orders", "0", "to")) == "address"
    assert hints.kind_at(("orders", "17", "to")) == "address"
    assert hints.kind_at(("orders", "to")) == "address"
    assert hints.kind_at(("orders", "0", "from")) is None


def test_no_hints_are_false() -> None:
    assert not NO_HINTS
    assert FieldHints({"a": "name"})
    assert FieldHints({"a.b": "name"})
