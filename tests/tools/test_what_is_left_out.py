"""What chooses nothing is still a fact: whom it reaches, and whether the same change was made before."""

from typing import Any

import pytest

from gaby.tools import Asked, Done
from tests.tools.scenes import Scene

pytestmark = [pytest.mark.promise("S8", "S14"), pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)]
ADA = "ada@acme.example"


@pytest.fixture
async def till(scene: Scene) -> Scene:
    await scene.connect(server="till.py")
    return scene


@pytest.mark.parametrize(
    "again",
    [
        {},
        {"speed": "fast"},
        {"currency": "CHF"},
        {"memo": "once more"},
        {"tags": []},
        {"amount": "20"},
        {"to": ["ada-7", "bob-8"]},
        {"to": ["BOB-8", "ada-7"], "memo": "please"},
    ],
    ids=str,
)
async def test_the_same_payment_asks_whatever_else_is_said_with_it(till: Scene, again: dict[str, Any]) -> None:
    run = till.run(words="Pay 20 to ada-7 and bob-8.")
    first = {"to": ["bob-8", "ada-7"], "memo": "rent"}
    assert isinstance(await till.invoke(run, "pay", **first), Done)
    asked = await till.invoke(run, "pay", **{**first, **again})
    assert isinstance(asked, Asked)
    assert asked.verdict.rule == "repeated"
    assert len(till.effects) == 1


async def test_another_payment_does_not_ask(till: Scene) -> None:
    run = till.run(words="Pay '20' to ada-7, '30' to ada-7, and '20' to bob-8.")
    for arguments in ({"to": ["ada-7"]}, {"to": ["ada-7"], "amount": "30"}, {"to": ["bob-8"]}):
        assert isinstance(await till.invoke(run, "pay", **arguments), Done), arguments


async def test_one_who_is_named_twice_in_one_call_asks(till: Scene) -> None:
    run = till.run(words="Pay 20 to ada-7.")
    asked = await till.invoke(run, "pay", to=["ada-7", "ada-7 ".strip()])
    assert isinstance(asked, Asked)
    assert asked.verdict.rule == "repeated"


@pytest.mark.parametrize("channel", [{}, {"channel": "general"}, {"channel": "status"}], ids=str)
async def test_a_place_that_nobody_chose_is_read_by_strangers(till: Scene, channel: dict[str, str]) -> None:
    run = till.run(requester=ADA)
    await till.invoke(run, "record_of", email=ADA)
    asked = await till.invoke(run, "announce", text="Ada has hereditary angioedema.", **channel)
    assert isinstance(asked, Asked)
    assert asked.verdict.rule == "readers"
    assert till.effects == []


@pytest.mark.parametrize("channel", [{}, {"channel": "general"}, {"channel": "status"}], ids=str)
async def test_where_nothing_was_read_it_may_be_written_there(till: Scene, channel: dict[str, str]) -> None:
    assert isinstance(await till.invoke(till.run(requester=ADA), "announce", text="We are open.", **channel), Done)
