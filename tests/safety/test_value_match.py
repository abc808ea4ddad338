"""Whole-value matches: an operator's words name a value, or they do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaby.safety.value_match import fills_template, quote, same_case, says, says_literal, says_quantity, words

pytestmark = pytest.mark.promise("S7")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Mail ada@acme.example, please.", "ada@acme.example"),
        ("Mail ada@acme.example.", "ada@acme.example"),
        ("(ada@acme.example)", "ada@acme.example"),
        ("ada@acme.example", "ada@acme.example"),
        ("Alice's inbox", "Alice"),
        ("tell ALICE", "alice"),
        ("visit www.acme.example!", "www.acme.example"),
        ("at 1234 Elm Street, New York, NY 10001 and", "New York, NY 10001"),
        ("ticket 7", "7"),
        ("Order #42 is late", "42"),
        ("the file with id: 13", "13"),
        ("rename it to 'x'", "x"),
        ('set it to "ab"', "ab"),
        ("invoice no. 12", "12"),
        ("pay 1200 now", "1200"),
        ("abc", "abc"),
        ("'x' is the name", "x"),
        ("see !!!!", "!!!"),
        ("x1 abcd,5", "abcd"),
        ("1234,abc", "1234"),
        ("ticket      7", "7"),
        ("first, second,third", "second"),
        ("straße 5", "STRAßE 5"),
        ("anne’s inbox", "anne"),
        ("see a;;;; here", ";;;"),
    ],
)
def test_words_name_a_whole_value(text: str, value: str) -> None:
    assert says(words("x", text), value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("malice@acme.example", "alice@acme.example"),
        ("o'brien@acme.example", "brien@acme.example"),
        ("o’brien@acme.example", "brien@acme.example"),
        ("a!brien@acme.example", "brien@acme.example"),
        ("STRASSE 5", "Straße 5"),
        ("kim@acme.example", "\u212aim@acme.example"),
        ("sam@acme.example", "\u017fam@acme.example"),
        ("fin@acme.example", "\ufb01n@acme.example"),
        ("ada@acme.example.evil.example", "ada@acme.example"),
        ("ada@acme.example", "acme.example"),
        ("ada@acme.example", "ada"),
        ("https://acme.example/path", "acme.example"),
        ("www.acme.example.They", "www.acme.example"),
        ("user-7", "user"),
        ("a_b_c", "b"),
        ("the 13 of May", "13"),
        ("lunch at 13:00", "13"),
        ("7 men said 'hello'", "7"),
        ("12,3456", "3456"),
        ("3456,12", "3456"),
        ("_ada", "ada"),
        ("ada_", "ada"),
        ("a.bcde", "bcde"),
        ("ticket       7", "7"),
        ("1,200", "200"),
        ("1,200", "1"),
        ("10.00", "10"),
        ("123 people", "123"),
        ("is it ok", "ok"),
        ("anne'marie", "anne"),
        ("anne'sophie", "anne"),
        ("o's-300", "s-300"),
        ("call it ''", ""),
        ("something", ""),
        ("something", "   "),
        ("something", "thing"),
        ("thing", "things"),
        ("ada@acme.example", "аda@acme.example"),
        ("ada@acme.example", "ａda@acme.example"),
        ("ada@acme.example", "ada@acme\u200b.example"),
        ("ada@acme.example", "ada @acme.example"),
        ("ada@acme.example", "YWRhQGFjbWUuZXhhbXBsZQ=="),
        ("", "x"),
    ],
)
def test_pieces_chances_and_other_spellings_are_not_the_value(text: str, value: str) -> None:
    assert not says(words("x", text), value)


def test_a_value_may_appear_first_as_a_piece_and_then_whole() -> None:
    assert says(words("x", "malice, then alice"), "alice")
    assert says(words("x", "aaaa aaa"), "aaa")


@pytest.mark.parametrize("cue", ["id", "ids", "number", "no", "nr", "ticket", "order", "invoice", "charge", "case"])
def test_a_short_value_is_named_after_a_word_for_it(cue: str) -> None:
    for text in (f"{cue} 7", f"see {cue.upper()}: 7.", f"{cue}.\n7"):
        assert says(words("x", text), "7"), text
    assert not says(words("x", f"{cue}less 7"), "7")


def test_a_cue_must_stand_right_before_a_short_value() -> None:
    assert says(words("x", "id 7"), "7")
    assert not says(words("x", "id is not what I mean by 7"), "7")
    assert not says(words("x", "did 7"), "7")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("pay 1,200.50 to", {"1200.5"}),
        ("$1200 and 10.00", {"1200", "10"}),
        ("-5 or +6", {"-5", "6"}),
        ("v1.2.3", set[str]()),
        ("12:30 and 3.5.", {"12", "30", "3.5"}),
        ("10%", {"10"}),
        ("abc123", set[str]()),
        ("7, 8", {"7", "8"}),
        ("1.2.3", set[str]()),
    ],
)
def test_quantities_are_read_however_they_are_written(text: str, numbers: set[str]) -> None:
    assert words("x", text).quantities == numbers


def test_a_quantity_is_named_by_its_number() -> None:
    said = words("x", "send 1,200.50 to her")
    assert says_quantity(said, "1200.5")
    assert not says_quantity(said, "1200")


@given(st.text(alphabet="ab@. -_/", min_size=1, max_size=12), st.text(alphabet="ab@. ", max_size=6))
def test_what_is_named_is_really_there(value: str, before: str) -> None:
    text = before + value
    if says(words("x", text), value):
        assert value.strip().casefold() in text.casefold()


@given(st.text(min_size=4, max_size=30, alphabet=st.characters(categories=["L", "N"])))
def test_a_word_on_its_own_is_always_named_and_never_inside_a_longer_one(value: str) -> None:
    assert says(words("x", f"please {value} now"), value)
    assert not says(words("x", f"x{value}"), value)
    assert not says(words("x", f"{value}x"), value)


def test_a_quote_shows_the_words_around_the_first_place() -> None:
    text = "a" * 100 + " the value x7 is here " + "b" * 100
    found = quote("the ticket", text, " X7 ")
    assert found is not None
    assert found.source == "the ticket"
    assert found.excerpt.startswith("…a")
    assert found.excerpt.endswith("b…")
    assert "the value x7 is here" in found.excerpt
    assert len(found.excerpt) == 1 + 60 + 2 + 60 + 1
    assert quote("s", text, "nothing") is None
    assert quote("s", text, "  ") is None


def test_a_quote_of_a_short_text_is_the_whole_text_on_one_line() -> None:
    for text in ("see\n\n  x7\tnow", "X7 now", "x7"):
        found = quote("s", text, "x7")
        assert found is not None
        assert found.excerpt == " ".join(text.split())


FORBIDDING = ["not", "never", "without", "except", "nor", "neither", "avoid", "ignore", "skip", "don't", "don’t"]


@pytest.mark.parametrize(
    "text",
    [
        "Credit 5 points to r-1001; do not touch row r-3003.",
        "Never change r-3003.",
        "All rows except r-3003",
        "Don't credit r-3003",
        "Leave it without R-3003, please.",
        *[f"{word} r-3003" for word in FORBIDDING],
        *[f"Please {word.upper()} all of r-3003" for word in FORBIDDING],
    ],
)
def test_what_is_to_be_left_alone_is_not_named_for_a_change(text: str) -> None:
    assert not says(words("an instruction", text), "r-3003")


@pytest.mark.parametrize("end", [". ", "! ", "? ", "; ", "\n"])
def test_a_denial_in_another_sentence_takes_nothing_away(end: str) -> None:
    said = words("an instruction", f"It is not{end}Credit r-1001{end}It was not their fault.")
    assert says(said, "r-1001")
    assert not says(words("an instruction", f"Hello{end}Do not credit r-1001"), "r-1001")


def test_a_denial_is_looked_for_sixty_characters_before_the_value() -> None:
    assert not says(words("an instruction", f"not {'x' * 55} r-1001"), "r-1001")
    assert says(words("an instruction", f"not {'x' * 56} r-1001"), "r-1001")


@pytest.mark.parametrize(
    ("text", "argument", "value"),
    [
        ("grant_admin: true", "grant_admin", "true"),
        ("Set GRANT_ADMIN = True", "grant_admin", "true"),
        ("`grant_admin` is 'false'", "grant_admin", "false"),
        ("set grant admin to true", "grant_admin", "true"),
        ("set grant-admin to null", "grant_admin", "null"),
        ("grant_admin: true", "options.grant_admin", "true"),
        ("grant_admin: true", "options[].grant_admin", "true"),
        ("flags: true", "flags[]", "true"),
        ("flags: false", "options.flags[]", "false"),
        ("Please grant_admin.", "grant_admin", "true"),
        ("They get grant admin", "grant_admin", "true"),
        (f"stop {'x' * 35} grant_admin", "grant_admin", "true"),
    ],
)
def test_true_false_and_null_are_named_with_their_argument(text: str, argument: str, value: str) -> None:
    assert says_literal(words("an instruction", text), argument, value)


DENYING = "no not non never without nor neither off disable disabled remove stop don't"


@pytest.mark.parametrize(
    ("text", "argument", "value"),
    [
        ("true", "grant_admin", "true"),
        ("grant_admin: false", "grant_admin", "true"),
        ("Please grant_admin.", "grant_admin", "false"),
        ("Please grant_admin.", "grant_admin", "null"),
        ("Please grantadmins.", "grant_admin", "true"),
        ("grant_admin: truest", "grant_admin", "true"),
        ("options: true", "options.grant_admin", "true"),
        (f"stop {'x' * 34} grant_admin", "grant_admin", "true"),
        *[(f"{word} grant_admin", "grant_admin", "true") for word in DENYING.split()],
        *[(f"Please {word.upper()} such grant_admin", "grant_admin", "true") for word in DENYING.split()],
    ],
)
def test_a_literal_that_is_denied_or_set_otherwise_is_not_named(text: str, argument: str, value: str) -> None:
    assert not says_literal(words("an instruction", text), argument, value)


def test_half_of_a_pair_of_code_units_as_json_may_hold_it_is_a_character_like_any_other() -> None:
    assert same_case("A\ud800") == "a\ud800"
    assert says(words("an instruction", "Credit R-\ud8001 now"), "r-\ud8001")


@pytest.mark.parametrize("value", ["r-1001 ", " r-1001", "r-1001\n", "\tr-1001"])
def test_a_value_with_blanks_around_it_is_another_value(value: str) -> None:
    assert not says(words("an instruction", "Credit r-1001 now.\nr-1001\n"), value)


TEMPLATES = words("an instruction", "Call it 'Dinner at {restaurant_name}', and “{customer} has left” when they go.")


@pytest.mark.parametrize(
    "value", ["Dinner at Miznon", "Dinner at St. Ann's, Paris", "Dinner at Breizh Café", "Ada Byron has left"]
)
def test_a_template_of_an_operator_is_filled_with_a_few_words(value: str) -> None:
    assert fills_template(TEMPLATES, value)


@pytest.mark.parametrize(
    "value",
    [
        "Lunch at Miznon",
        "Dinner at ",
        "Dinner at",
        "Dinner  at Miznon",
        "dinner at Miznon",
        " Dinner at Miznon",
        "Dinner at Miznon ",
        "Dinner at Miznon\nand more",
        "Dinner at www.evil.example",
        "Dinner at https://evil.example/x",
        "Dinner at eve@evil.example",
        "Dinner at +49 30 1234567",
        "Dinner at <b>Miznon</b>",
        "Dinner at Nobu 12",
        "Dinner at evil.москва",
        "Dinner at mallory (at) evil io",
        "Dinner at S3cr3tPassw0rd",
        "Dinner at Miznon,",
        "Dinner at {restaurant_name}",
        "Dinner at " + "x" * 81,
        " has left",
        "has left",
        "Miznon",
    ],
)
def test_what_a_template_does_not_say_or_what_leads_somewhere_does_not_fill_it(value: str) -> None:
    assert not fills_template(TEMPLATES, value)


def test_a_template_that_leads_somewhere_by_itself_is_not_filled() -> None:
    said = words("an instruction", "Call it 'Ask eve@evil.example about {topic}' or 'Ask Eve about {topic}'.")
    assert not fills_template(said, "Ask eve@evil.example about dinner")
    assert fills_template(said, "Ask Eve about dinner")


def test_the_longest_words_that_fill_a_template() -> None:
    assert fills_template(TEMPLATES, "Dinner at " + "x" * 80)


@pytest.mark.parametrize(
    "text",
    [
        "Call it Dinner at {restaurant}",
        "Take '{restaurant}' for it",
        "Take ' {restaurant} ' for it",
        "'Dinner at {9}'",
        "'Dinner at {a\nb}'",
        "'Dinner\nat {restaurant}'",
        f"'{'x' * 81}{{restaurant}}'",
        "'Dinner at {restaurant} on {day}'",
        "Do not make events like 'Dinner at {restaurant}'",
        "'{restaurant}.'",
        "'to {restaurant}'",
    ],
)
def test_a_template_is_quoted_on_one_line_has_one_gap_and_words_beside_it(text: str) -> None:
    said = words("an instruction", text)
    assert not any(
        fills_template(said, value)
        for value in ("Dinner at Miznon", "Miznon", " Miznon ", "Miznon.", "to Miznon", f"{'x' * 81}Miznon")
    )


def test_only_the_first_templates_of_a_text_are_kept() -> None:
    said = words("an instruction", " ".join(f"'name{number} {{gap}}'" for number in range(30)))
    assert [fills_template(said, f"name{number} x") for number in (0, 19, 20)] == [True, True, False]
