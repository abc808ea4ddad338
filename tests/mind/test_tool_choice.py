"""Tools are chosen by words, by meaning and by what can be filled; looking comes before changing."""

from typing import Any

import pytest
from evals.mind.labelled_data import needs, tools
from hypothesis import given

from gaby.llm.embeddings.embed import Embed
from gaby.mind.entities import extract
from gaby.mind.tool_choice import ScoredTool, ToolCard, choose
from tests.mind.strategies import hostile_texts

pytestmark = pytest.mark.promise("G2", "L4")


def needing(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


GET_USER = ToolCard("crm.get_user", "Show a user with lock state and last login.", needing("user_id"))
UNLOCK = ToolCard(
    "crm.unlock_user", "Unlock a user who was locked out after failed logins.", needing("user_id"), "write"
)
DELETE = ToolCard("crm.delete_user", "Delete a user for good.", needing("user_id"), "write")
BILLS = ToolCard("crm.list_invoices", "Show the invoices of an account.", needing("account_id"))
SEARCH = ToolCard("crm.search_users", "Find users by name or e-mail.", needing("query"))
ALL = (GET_USER, UNLOCK, DELETE, BILLS, SEARCH)


def chosen(need: str, embed: Embed, limit: int = 5) -> list[ScoredTool]:
    return choose(need, ALL, extract(need), embed, limit)


def names(need: str, embed: Embed) -> list[str]:
    return [choice.name for choice in chosen(need, embed)]


def test_the_tool_that_speaks_of_the_need_comes_first(embed: Embed) -> None:
    assert names("Which invoices of account acc_01 are open?", embed)[0] == "crm.list_invoices"


def test_looking_comes_before_changing_when_nobody_asked_for_a_change(embed: Embed) -> None:
    order = names("User usr_001 is locked out after failed logins.", embed)
    assert order.index("crm.get_user") < order.index("crm.unlock_user")
    assert order[0] in {"crm.get_user", "crm.search_users"}


def test_a_change_that_is_asked_for_comes_first(embed: Embed) -> None:
    assert names("Please unlock user usr_001.", embed)[0] == "crm.unlock_user"


def test_another_change_than_the_one_asked_for_is_not_preferred(embed: Embed) -> None:
    order = names("Please unlock user usr_001.", embed)
    assert order.index("crm.unlock_user") < order.index("crm.delete_user")
    assert names("Do not delete user usr_001, only have a look.", embed)[0] != "crm.delete_user"


def test_a_synonym_finds_its_tool(embed: Embed) -> None:
    card = ToolCard("idp.reset_second_factor", "Remove the registered second factor.", {}, "write")
    assert choose("please reset the 2FA", (*ALL, card), [], embed, 1)[0].name == card.name


def test_a_tool_that_can_be_filled_is_preferred_to_its_twin(embed: Embed) -> None:
    by_host = ToolCard("a.look_host", "Look at it.", {"properties": {"host": {"type": "string"}}, "required": ["host"]})
    by_mail = ToolCard(
        "a.look_email", "Look at it.", {"properties": {"email": {"type": "string"}}, "required": ["email"]}
    )
    need = "look at it: ada@acme.example"
    assert choose(need, (by_host, by_mail), extract(need), embed, 2)[0].name == "a.look_email"


def test_the_reason_is_a_sentence_that_names_words_needs_and_effect(embed: Embed) -> None:
    (best, *_) = chosen("Please unlock user", embed)
    assert best.why == "It speaks of unlock and user, still needs user_id, and it makes the change that is asked for."
    (read,) = choose("find users", (SEARCH,), [], embed, 1)
    assert read.why.endswith("can be called with what is known, and it only reads.")


def test_when_nothing_fits_every_score_is_low(embed: Embed) -> None:
    assert chosen("Find users by name or e-mail", embed)[0].score > 0.6
    nothing = chosen("zebra crossing banana", embed)
    assert all(choice.score < 0.05 and choice.why.startswith("It hardly fits") for choice in nothing)


def test_nothing_is_chosen_from_nothing(embed: Embed) -> None:
    assert choose("unlock", (), [], embed, 5) == []
    assert choose("  ", ALL, [], embed, 5) == []
    assert choose("unlock", ALL, [], embed, 0) == []


def test_the_order_of_the_catalogue_does_not_matter(embed: Embed) -> None:
    cards = tools()
    shuffled = sorted(cards, key=lambda card: card.description[::-1])
    for need, _ in needs()[:20]:
        first, second = (choose(need, each, extract(need), embed, 5) for each in (cards, shuffled))
        assert [choice.score for choice in first] == [choice.score for choice in second]
        assert first[0].name == second[0].name


@given(need=hostile_texts)
def test_any_need_gets_an_answer_and_always_the_same(need: str, embed: Embed) -> None:
    choices = chosen(need, embed, 3)
    assert len(choices) <= 3
    assert all(0 <= choice.score <= 1 and choice.why for choice in choices)
    assert [choice.score for choice in choices] == sorted((choice.score for choice in choices), reverse=True)
    assert choices == chosen(need, embed, 3)


@given(text=hostile_texts)
def test_any_description_is_read_as_text(text: str, embed: Embed) -> None:
    card = ToolCard(text, text, {"properties": {text: {"description": text}, "a": 7}, "required": [text]}, "write")
    assert [choice.name for choice in choose("unlock a user", (card,), [], embed, 2)] == [text]
