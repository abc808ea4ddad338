"""What must hold after any disturbance. Each rule tells what it found broken; nothing when all is well."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx2

from tests.chaos.facts import TicketFacts
from tests.chaos.product import PATIENCE, Product

_BLAMED = frozenset({"failed", "failed_budget"})
_TELLS_OF_CREDIT = ("credit_order", "credited", "may have happened")
"""Colleagues read the name of the tool, requesters what was done."""
_DENIALS = ("credit_order: failed", "`shop.credit_order` failed; nothing was changed.", "credit_order: denied")
_DOUBT = ("outcome unknown", "may have happened", "nobody can say whether")
_OFTEN = ("desks", "knowledge")
"""Schedules that come round within seconds."""


def broken_for_tickets(tickets: Sequence[TicketFacts], *, may_fail: bool = False) -> list[str]:
    """By rule and ticket. A run may fail where the test itself has used up its budget."""
    rules = [rule for rule in _RULES if not (may_fail and rule is no_ticket_is_blamed)]
    return [f"{rule.__name__}: {ticket}: {told}" for rule in rules for ticket in tickets for told in rule(ticket)]


def no_ticket_is_lost(ticket: TicketFacts) -> Iterator[str]:
    if ticket.status == "missing":
        yield "it was accepted, and Gaby does not know it"


def no_ticket_is_stuck(ticket: TicketFacts) -> Iterator[str]:
    if ticket.status != "missing" and not ticket.ended:
        yield "it has not ended"


def no_effect_is_doubled(ticket: TicketFacts) -> Iterator[str]:
    if ticket.credits > 1:
        yield f"credited {ticket.credits} times"


def no_reply_is_doubled_or_lost(ticket: TicketFacts) -> Iterator[str]:
    wanted = 1 if ticket.ended and ticket.status != "skipped" else 0
    if len(ticket.replies) > 1 or len(ticket.replies) < wanted:
        yield f"{len(ticket.replies)} replies"
    if ticket.first_replies > 1:
        yield f"told {ticket.first_replies} times that a colleague takes over"


def every_effect_is_told(ticket: TicketFacts) -> Iterator[str]:
    if not ticket.ended or not ticket.credits:
        return
    if not any(words in text for text in ticket.replies for words in _TELLS_OF_CREDIT):
        yield "it was credited, and what was written on the ticket does not say so"
    for words in _DENIALS:
        if words in ticket.record:
            yield f"it was credited, and the record says {words!r}"


def every_doubt_is_told(ticket: TicketFacts) -> Iterator[str]:
    if ticket.ended and ticket.open_intents and not any(words in ticket.record for words in _DOUBT):
        yield "a credit was begun whose outcome nobody knows, and nobody is told"


def no_success_is_made_up(ticket: TicketFacts) -> Iterator[str]:
    if ticket.status == "auto_resolved" and not ticket.credits:
        yield "it is called resolved, and nothing was credited"


def no_effect_is_without_intent(ticket: TicketFacts) -> Iterator[str]:
    if ticket.credits > ticket.intents:
        yield f"{ticket.credits} credits, {ticket.intents} intents in the audit log"


def no_ticket_is_blamed(ticket: TicketFacts) -> Iterator[str]:
    """A shop that did not answer in time is a reason; that somebody was killed is none."""
    for run in ticket.runs:
        late = "find_orders: failed" in ticket.record and "did not answer in time" in ticket.record
        if run["state"] == "done" and late:
            continue
        if run["verdict"] in _BLAMED or run["state"] == "halted":
            yield f"it ended {run['verdict']} though only processes were killed: {run['reason']}"


_RULES: tuple[Callable[[TicketFacts], Iterator[str]], ...] = (
    no_ticket_is_lost,
    no_ticket_is_stuck,
    no_effect_is_doubled,
    no_reply_is_doubled_or_lost,
    every_effect_is_told,
    every_doubt_is_told,
    no_success_is_made_up,
    no_effect_is_without_intent,
    no_ticket_is_blamed,
)


def broken_for_product(product: Product, patience: float = PATIENCE) -> list[str]:
    """Of the whole installation, once it has had the time to recover."""
    return [*schedules_go_on(product, patience), *it_is_ready(product, patience), *the_doctor_is_content(product)]


def schedules_go_on(product: Product, patience: float) -> Iterator[str]:
    before = _runs(product)
    # Another takes over after a silence; the server that died may have to be started first.
    until = time.monotonic() + patience
    late = set(_OFTEN)
    while late and time.monotonic() < until:
        product.supervisor.tend()
        time.sleep(0.5)
        now = _runs(product)
        late = {name for name in _OFTEN if now.get(name) is None or now.get(name) == before.get(name)}
    if late:
        yield f"schedules_go_on: nobody does {', '.join(sorted(late))} any more, for {patience:.0f} s"


def it_is_ready(product: Product, patience: float) -> Iterator[str]:
    until = time.monotonic() + patience
    while (told := _readiness(product)) != {"status": "ok", "failing": [], "warnings": []}:
        if time.monotonic() > until:
            yield f"it_is_ready: {told}"
            return
        time.sleep(0.5)


def the_doctor_is_content(product: Product) -> Iterator[str]:
    checks = json.loads(product.gaby("doctor", "--json", codes=(0, 1, 2)))
    yield from (f"the_doctor_is_content: {each}" for each in checks if each["health"] != "ok")


def the_audit_log_verifies(product: Product) -> Iterator[str]:
    try:
        product.gaby("audit", "verify")
    except RuntimeError as error:
        yield f"the_audit_log_verifies: {error}"


def _runs(product: Product) -> dict[str, Any]:
    return dict(product.ask("SELECT name, ran_at FROM schedules"))


def _readiness(product: Product) -> object:
    try:
        with product.client() as client:
            return client.get("/readyz").json()
    except (httpx2.HTTPError, ValueError) as error:
        return repr(error)
