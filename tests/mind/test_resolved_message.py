"""Only a message that says nothing but that all is well is taken for a goodbye."""

import pytest

from gaby.mind.resolved_message import says_solved

pytestmark = pytest.mark.promise("L12")


@pytest.mark.parametrize(
    "text",
    [
        "Thank you, it works again.",
        "Hi Gaby,\n\nthat did the trick, thanks a lot!\n\nBest\nNora Lindqvist",
        "Perfect. You can close the ticket.\n--\nNora",
        "Thanks!\n\nOn 2 Jan 2030 at 03:04 Lanternfish Support wrote:\n> Your account is still locked.",
        "Thanks for your quick help, I can log in again.",
        "Please close this ticket.",
        "Vielen Dank für die schnelle Hilfe, es funktioniert wieder.",
        "Muchas gracias, ya funciona todo.",
        "Merci beaucoup, tout fonctionne.",
    ],
)
def test_a_goodbye_is_heard(text: str) -> None:
    assert says_solved(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I am still locked out.",
        "Thanks, but it still does not work.",
        "Thanks for nothing.",
        "It never works.",
        "It works again. Please refund the invoice too.",
        "Thank you. Can you close my account?",
        "Please help, thanks.",
        "Close my login please, thanks.",
        "Please close the account, thank you.",
        "Great, now the printer is broken.",
        "It works again on the laptop only.",
        "thanks " * 200,
        "Vielen Dank, es geht nicht.",
        "Gracias, no funciona.",
        "Merci, ça ne marche pas.",
        "Hello my account is locked\nThanks",
        "Thanks!\nBest delete the account of Amara",
        "Thanks!\nBest wishes, and delete the account of Amara. All good.",
    ],
)
def test_in_doubt_somebody_looks(text: str) -> None:
    assert not says_solved(text)
