"""Directed scenarios: a process dies at a moment that matters, which the shop or the desk has told us of."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.chaos.facts import gather, is_settled, settle
from tests.chaos.invariants import broken_for_tickets, schedules_go_on
from tests.chaos.outside import Hold, credits_order, looks_up, replies_on
from tests.chaos.processes import kill_if_there
from tests.chaos.product import PATIENCE, Product
from tests.chaos.tickets import Sender

_BRIEFLY = 1.0
_USED_UP = 11.0
"""Seconds after which nothing is left of the budget of `SHORT_BUDGET`."""
SHORT_BUDGET = {"GABY_AGENT_MAX_TIME": "10s", "GABY_CONNECTORS_CALL_DEADLINE": "60s"}


@dataclass(frozen=True)
class Scenario:
    act: Callable[[Product, float], list[str]]
    """Does it to a product, waits at most so long for the recovery, and returns what is broken then."""
    settings: dict[str, str] = field(default_factory=dict[str, str])


def killed_in_effect(product: Product, patience: float) -> list[str]:
    """The credit is made, and whoever asked for it dies before hearing so."""
    sender = Sender(product)
    sent = sender.send("webhook")
    hold = product.outside.shop.holds.add(credits_order(sent.order_id))
    hold.wait()
    kill_everything(product)
    hold.release()
    return _broken(product, sender, patience)


def killed_in_reply(product: Product, patience: float) -> list[str]:
    """The reply has arrived at the desk, and whoever sent it dies before hearing so."""
    sender = Sender(product)
    sent = sender.send("webhook")
    hold = product.outside.desk.holds.add(replies_on(sent.external_id))
    hold.wait()
    kill_everything(product)
    hold.release()
    return _broken(product, sender, patience)


def killed_three_times(product: Product, patience: float) -> list[str]:
    """Each time the same ticket is in hand. It is not its fault."""
    sender = Sender(product)
    _kill_while_processing(product, sender)
    return _broken(product, sender, patience)


def killed_again_and_again(product: Product, patience: float) -> list[str]:
    """The ticket is in hand three times. After that whoever is killed has not lived long enough to prove anything."""
    sender = Sender(product)
    _kill_while_processing(product, sender)
    for _ in range(6):
        time.sleep(_BRIEFLY)
        kill_everything(product)
    return _broken(product, sender, patience)


def budget_spent_in_effect(product: Product, patience: float) -> list[str]:
    """The credit is made, the connector dies, and the time that the run may take is over: it ends failed, and tells."""
    sender = Sender(product)
    sent = sender.send("webhook")
    hold = product.outside.shop.holds.add(credits_order(sent.order_id))
    _wait(product, sender, hold)
    if hold.reached.is_set():
        time.sleep(_USED_UP)
        for pid in product.connectors():
            kill_if_there(pid)
    hold.release()
    return _broken(product, sender, patience, may_fail=True)


def clock_corrected_after_kill(product: Product, patience: float) -> list[str]:
    """A machine whose clock is an hour ahead takes a ticket up and dies. When it is back, its clock is right."""
    product.server.clock.write_text("3600")
    sender = Sender(product)
    sent = sender.send("api")
    hold = product.outside.shop.holds.add(looks_up(sent.email))
    _wait(product, sender, hold)
    product.server.clock.unlink()
    kill_everything(product)
    hold.release()
    return _broken(product, sender, patience)


def leader_killed(product: Product, patience: float) -> list[str]:
    """Whoever leads the schedules dies. A ticket that only lies on the desk is found all the same."""
    product.wait_until(lambda: product.ask("SELECT 1 FROM leaders WHERE holder IS NOT NULL"), "somebody leads")
    [(holder,)] = product.ask("SELECT holder FROM leaders")
    os.kill(int(str(holder).split("-")[-2]), signal.SIGKILL)
    sender = Sender(product)
    sender.send("poll")
    return [*_broken(product, sender, patience), *schedules_go_on(product, patience)]


def _kill_while_processing(product: Product, sender: Sender) -> None:
    sent = sender.send("api")
    for _ in range(3):
        hold = product.outside.shop.holds.add(looks_up(sent.email))
        _wait(product, sender, hold)
        kill_everything(product)
        product.outside.shop.holds.release_all()


def _wait(product: Product, sender: Sender, hold: Hold) -> None:
    """Until somebody asks, or until it is too late for that."""
    product.wait_until(lambda: hold.reached.is_set() or is_settled(product, sender.sent), "the shop is asked")


def kill_everything(product: Product) -> None:
    """At once, as when the power fails; whoever supervises starts all of it again."""
    for each in product.supervisor.processes:
        each.kill()
    product.supervisor.tend(0)


def _broken(product: Product, sender: Sender, patience: float, *, may_fail: bool = False) -> list[str]:
    settle(product, sender.sent, patience)
    sender.finish()
    return broken_for_tickets(gather(product, sender.sent), may_fail=may_fail)


SCENARIOS = {
    "killed_in_effect": Scenario(killed_in_effect),
    "killed_in_reply": Scenario(killed_in_reply),
    "killed_three_times": Scenario(killed_three_times),
    "killed_again_and_again": Scenario(killed_again_and_again),
    "budget_spent_in_effect": Scenario(budget_spent_in_effect, SHORT_BUDGET),
    "leader_killed": Scenario(leader_killed),
    "clock_corrected_after_kill": Scenario(clock_corrected_after_kill),
}


@dataclass(frozen=True)
class Planted:
    """A bug, the scenario that finds it, and the invariant that is broken then."""

    scenario: str
    invariant: str
    patience: float = PATIENCE
    """With some bugs nothing ever comes, and nobody need wait long to see it."""


PLANTED = {
    "leader_is_for_life": Planted("leader_killed", "schedules_go_on", 40),
    "begun_changes_are_forgotten": Planted("budget_spent_in_effect", "every_effect_is_told"),
    "killed_runs_are_blamed": Planted("killed_three_times", "no_ticket_is_blamed"),
    "log_is_not_asked": Planted("killed_in_effect", "no_effect_is_doubled"),
    "lease_never_ends": Planted("killed_in_effect", "no_ticket_is_stuck", 20),
    "reply_is_sent_again": Planted("killed_in_reply", "no_reply_is_doubled_or_lost"),
}
