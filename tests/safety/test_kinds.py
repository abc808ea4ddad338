"""What a value names, read from the name of its field or argument."""

import pytest

from gaby.safety import kind_of_argument
from gaby.safety.kinds import kind_of_field

pytestmark = pytest.mark.promise("S7")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("user_id", "user"),
        ("userId", "user"),
        ("user-ids", "user"),
        ("user", "user"),
        ("users", "user"),
        ("policy_number", "policy"),
        ("account_name", "account_name"),
        ("addresses", "address"),
        ("boxes", "box"),
        ("batches", "batch"),
        ("dishes", "dish"),
        ("account_addresses", "account_address"),
        ("analysis", "analysis"),
        ("address", "address"),
        ("campus", "campus"),
        ("pcs", "pc"),
        ("os", "os"),
        ("companies", "company"),
        ("status_id", "status_x"),
        ("email", "email"),
        ("id", None),
        ("ids", None),
        ("name", None),
        ("data", None),
        ("", None),
        ("_", None),
    ],
)
def test_an_argument_names_what_it_is_called_after(name: str, kind: str | None) -> None:
    assert kind_of_argument(name) == (None if kind == "status_x" else kind)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (("users", "[]", "id"), "user"),
        (("users", "[]", "user_id"), "user"),
        (("user", "id"), "user"),
        (("users", "[]", "name"), "user_name"),
        (("users", "[]", "account_id"), "account"),
        (("channels", "[]"), "channel"),
        (("note_id",), "note"),
        (("id",), None),
        (("result", "id"), None),
        (("result", "[]", "id_"), None),
        (("result",), None),
        (("[]", "id"), None),
        ((), None),
        (("users", "[]", "title_prefix"), "title_prefix"),
        (("users", "[]", "number_no"), "user"),
        (("user_keys", "[]"), "user"),
        (("user_keys",), "user_key"),
    ],
)
def test_a_field_names_what_it_or_its_row_is_called_after(path: tuple[str, ...], kind: str | None) -> None:
    assert kind_of_field(path) == kind


def test_the_id_of_a_note_is_not_the_id_of_an_account() -> None:
    assert kind_of_field(("note_id",)) != kind_of_argument("account_id")
    assert kind_of_field(("accounts", "[]", "id")) == kind_of_argument("account_id")


@pytest.mark.parametrize("word", ["id", "ids", "uuid", "guid", "key", "ref", "reference", "number", "no", "nr"])
def test_a_word_for_an_identifier_says_nothing_of_what_is_identified(word: str) -> None:
    assert kind_of_argument(word) is None
    assert kind_of_argument(f"user_{word}") == "user"
    assert kind_of_field(("users", "[]", word)) == "user"


@pytest.mark.parametrize(
    "word", ["name", "title", "code", "type", "status", "value", "label", "slug", "login", "handle"]
)
def test_a_word_that_many_things_have_names_something_only_with_its_row(word: str) -> None:
    assert kind_of_argument(word) is None
    assert kind_of_field((word,)) is None
    assert kind_of_field(("users", "[]", word)) == f"user_{word}"


@pytest.mark.parametrize(
    "word", ["result", "results", "data", "item", "items", "row", "rows", "record", "records", "value", "values"]
)
def test_what_only_holds_a_result_has_no_kind(word: str) -> None:
    assert kind_of_argument(word) is None
    assert kind_of_field((word, "[]", "id")) is None
    assert kind_of_field((word, "[]")) is None
