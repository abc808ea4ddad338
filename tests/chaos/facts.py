"""What is there afterwards, asked from outside: over the API, from the shop and from the desk."""

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2

from tests.chaos.product import Product
from tests.chaos.tickets import Sent

_ENDED = frozenset({"done", "halted"})
_TOOL = "shop.credit_order"
_FIRST_REPLY = "Thanks, we have it; a colleague takes it from here."
"""Of the acknowledgement, with which a reply or a note never ends."""


@dataclass(frozen=True)
class TicketFacts:
    sent: Sent
    status: str
    """`missing` when Gaby does not know it."""
    runs: tuple[dict[str, Any], ...]
    """With their timelines, the newest first."""
    replies: tuple[str, ...]
    credits: int
    """Made outside, whatever Gaby says."""
    intents: int = 0
    """Of the credit, in the audit log."""
    open_intents: int = 0
    """Of those, the ones that the log knows no outcome of, or an unknown one."""
    first_replies: int = 0
    """How often the requester was told that a colleague takes over."""

    @property
    def ended(self) -> bool:
        return bool(self.runs) and all(run["state"] in _ENDED for run in self.runs)

    @property
    def record(self) -> str:
        """Everything that a person can read about it."""
        steps = [f"{step['system']}.{step['action']} {step['detail']}" for run in self.runs for step in run["steps"]]
        reasons = [run["reason"] or "" for run in self.runs]
        return "\n".join((*steps, *reasons, *self.replies))

    def __str__(self) -> str:
        run = self.runs[0] if self.runs else {}
        told = f"{run.get('state')}, {run.get('verdict')}, due {run.get('wake_at')}: {run.get('reason')}"
        return f"{self.sent.order_id} by {self.sent.way} ({self.status}; {told})"


@dataclass
class _Log:
    intents: dict[str, str] = field(default_factory=dict[str, str])
    """The run of each, by its row."""
    outcomes: dict[str, str] = field(default_factory=dict[str, str])


def is_settled(product: Product, sent: list[Sent]) -> bool:
    """Whether every ticket is accepted and there, and each has ended."""
    if not all(each.accepted_at for each in sent):
        return False
    found = _known(product)
    if found is None:
        return False
    known, runs = found
    wanted = {each.external_id for each in sent}
    ended = {run["ticket_id"] for run in runs if run["state"] in _ENDED}
    under_way = {run["ticket_id"] for run in runs if run["state"] not in _ENDED}
    return wanted <= known.keys() and not under_way and {known[each]["id"] for each in wanted} <= ended


def settle(product: Product, sent: list[Sent], bound: float, *, longest: float = 900.0) -> None:
    """Until all is settled, or nothing at all has moved for so long.

    The bound counts from the last move, so that a busy machine is not taken for a product that is stuck.
    """
    until = time.monotonic() + longest
    moved, moved_at = 0, time.monotonic()
    while not is_settled(product, sent) and time.monotonic() < until:
        product.supervisor.tend()
        time.sleep(0.3)
        found = _known(product)
        progress = moved if found is None else len(found[0]) + sum(run["edges"] for run in found[1])
        if progress != moved:
            moved, moved_at = progress, time.monotonic()
        if time.monotonic() - moved_at > bound:
            return


def gather(product: Product, sent: list[Sent]) -> list[TicketFacts]:
    # The log last: whatever is seen before must be in it.
    counter = Counter(product.outside.shop.credits)
    found = product.wait_until(lambda: _known(product), "the server answers")
    tickets = [_facts(product, each, found[0].get(each.external_id), found[1], counter[each.order_id]) for each in sent]
    log = _log(product)
    return [_with_intents(ticket, log) for ticket in tickets]


def _known(product: Product) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]] | None:
    """Tickets by their names, and all runs. None while nobody answers."""
    try:
        tickets = {ticket["external_id"]: ticket for ticket in product.get("/api/tickets", limit=1000)}
        return tickets, product.get("/api/runs", limit=1000)
    except (httpx2.HTTPError, AssertionError):
        return None


def _facts(
    product: Product,
    sent: Sent,
    ticket: dict[str, Any] | None,
    runs: list[dict[str, Any]],
    made: int,
) -> TicketFacts:
    if ticket is None:
        return TicketFacts(sent, "missing", (), (), made)
    mine = [product.get(f"/api/runs/{run['id']}") for run in runs if run["ticket_id"] == ticket["id"]]
    if sent.way == "api":
        messages = product.get(f"/api/tickets/{ticket['id']}")["messages"]
        replies = [message["body"] for message in messages if message["author"] == "gaby"]
    else:
        replies = product.outside.desk.replies_to(sent.external_id)
    first = [reply for reply in replies if _FIRST_REPLY in reply]
    said = tuple(reply for reply in replies if reply not in first)
    return TicketFacts(sent, ticket["status"], tuple(mine), said, made, first_replies=len(first))


def _with_intents(ticket: TicketFacts, log: _Log) -> TicketFacts:
    ids = {run["id"] for run in ticket.runs}
    intents = [row for row, run in log.intents.items() if run in ids]
    doubt = [row for row in intents if log.outcomes.get(row) not in {"succeeded", "failed"}]
    return replace(ticket, intents=len(intents), open_intents=len(doubt))


def _log(product: Product) -> _Log:
    log, after = _Log(), -1
    while rows := product.get("/api/audit/rows", after=after):
        for row in rows:
            payload = row["payload"]
            if row["event"] == "tool.call.intent" and payload["tool"] == _TOOL:
                log.intents[row["id"]] = payload["run_id"]
            elif row["event"] == "tool.call.outcome":
                log.outcomes[payload["intent"]] = payload["outcome"]
        after = rows[-1]["seq"]
    return log
