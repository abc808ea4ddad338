"""A run of chaos: tickets come, everything is disturbed at random for a while, then all must be well again."""

import heapq
import itertools
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from tests.chaos.facts import gather, settle
from tests.chaos.faults import Faults, kinds
from tests.chaos.invariants import broken_for_product, broken_for_tickets, the_audit_log_verifies
from tests.chaos.product import Product
from tests.chaos.tickets import WAYS, Sender

BOUND = 90.0
"""Seconds in which something has to move, once nothing is disturbed any more, until every ticket has ended."""
_USUAL_START = 4.0
"""Seconds in which the product is up on a machine that has nothing else to do."""
_SLOWEST = 5.0
_TURN = 0.05


@dataclass
class Report:
    engine: str
    seed: int
    seconds: float
    faults: dict[str, int]
    starts: dict[str, int]
    """How often each process was started."""
    tickets: dict[str, int]
    """By how they ended."""
    effects: int
    doubts: int
    """Credits that nobody knew the outcome of, told as such."""
    replies: int
    recovery: float
    """Seconds from the last disturbance until every ticket had ended."""
    broken: list[str]
    folder: str = ""
    """Where logs and databases were kept, if they were."""

    def lines(self) -> list[str]:
        starts = ", ".join(f"{name} {count}" for name, count in self.starts.items())
        tickets = ", ".join(f"{status} {count}" for status, count in sorted(self.tickets.items()))
        return [
            f"{self.engine}, seed {self.seed}, {self.seconds:.0f} s of disturbance",
            f"  faults    {sum(self.faults.values())}: {', '.join(kinds(Counter(self.faults)))}",
            f"  starts    {starts}",
            f"  tickets   {sum(self.tickets.values())}: {tickets}",
            f"  effects   {self.effects}, of which {self.doubts} told as in doubt; {self.replies} replies",
            f"  recovery  {self.recovery:.0f} s",
            *([f"  broken    {len(self.broken)}:", *(f"    {each}" for each in self.broken)] if self.broken else []),
            *(["  nothing is broken"] if not self.broken else []),
            *([f"  kept in   {self.folder}"] if self.folder else []),
        ]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class ChaosRun:
    product: Product
    seed: int
    seconds: float
    tickets_each_second: float = 0.5
    faults_each_second: float = 0.35
    _later: list[tuple[float, int, Callable[[], None]]] = field(
        default_factory=list[tuple[float, int, Callable[[], None]]]
    )

    def __post_init__(self) -> None:
        self._random = Random(self.seed)  # noqa: S311  To be repeated, not to be secret.
        self._numbers = itertools.count()
        self._faults = Faults(self.product, self._random)
        # On a machine on which a start takes four times as long, as much has to happen in four times the time.
        self._pace = min(max(1.0, self.product.started_in / _USUAL_START), _SLOWEST)
        self._sender = Sender(self.product)

    def run(self) -> Report:
        self._disturb()
        calm_at = time.monotonic()
        self._faults.heal()
        self._sender.finish()
        settle(self.product, self._sender.sent, BOUND)
        recovery = time.monotonic() - calm_at
        return self._report(recovery)

    def _disturb(self) -> None:
        ends = time.monotonic() + self.seconds * self._pace
        next_ticket = next_fault = time.monotonic()
        while (now := time.monotonic()) < ends:
            self.product.supervisor.tend()
            if now >= next_ticket:
                self._sender.send(self._random.choice(WAYS))
                next_ticket = now + self._random.expovariate(self.tickets_each_second / self._pace)
            if now >= next_fault:
                for wait, work in self._faults.next():
                    heapq.heappush(self._later, (now + wait, next(self._numbers), work))
                next_fault = now + self._random.expovariate(self.faults_each_second / self._pace)
            while self._later and self._later[0][0] <= time.monotonic():
                heapq.heappop(self._later)[2]()
            time.sleep(_TURN)

    def _report(self, recovery: float) -> Report:
        tickets = gather(self.product, self._sender.sent)
        broken = [*broken_for_tickets(tickets), *broken_for_product(self.product)]
        if not self._faults.counts["step_clock"]:
            # With a clock that was ahead, rows of the log come from the future, and verify says so.
            broken += the_audit_log_verifies(self.product)
        return Report(
            self.product.engine,
            self.seed,
            round(self.seconds * self._pace, 1),
            dict(self._faults.counts),
            {each.name: each.starts for each in self.product.supervisor.processes},
            dict(Counter(ticket.status for ticket in tickets)),
            len(self.product.outside.shop.credits),
            sum(bool(ticket.open_intents) for ticket in tickets),
            sum(len(ticket.replies) for ticket in tickets),
            round(recovery, 1),
            broken,
        )
