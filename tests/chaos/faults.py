"""What is done to the product: kills, standstills, wrong clocks, slow disks, and neighbours that misbehave.

Each fault begins at once and returns what has to happen later, with the seconds until then. Every choice comes from
one generator, so that a seed tells the whole course, as far as the machine keeps time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.chaos.outside import Hold
from tests.chaos.processes import Supervised, kill_if_there
from tests.chaos.product import Product
from tests.support.desks.faults import Trouble

Later = Iterable[tuple[float, Callable[[], None]]]
_LEASE = 4.0
_STEP = 25.0
"""Seconds by which a clock may be wrong: more than any lease here, less than the bound for recovery."""


@dataclass
class Faults:
    product: Product
    random: Random
    counts: Counter[str] = field(default_factory=Counter[str])

    def next(self) -> Later:
        """One of them, the more usual ones more often."""
        kinds = _ON_POSTGRES if self.product.postgres is not None else _EVERYWHERE
        [kind] = self.random.choices(list(kinds), weights=list(kinds.values()))
        self.counts[kind.__name__] += 1
        return kind(self)

    def heal(self) -> None:
        """Nothing is disturbed any more."""
        for each in self.product.supervisor.processes:
            each.go_on()
            each.clock.unlink(missing_ok=True)
        self.product.outside.shop.heal()
        self.product.outside.desk.heal()

    def kill_process(self) -> Later:
        self._anybody().kill()
        return ()

    def kill_twice(self) -> Later:
        """Again while it starts."""
        victim = self._anybody()
        victim.kill()
        return [(self.random.uniform(0.3, 4.0), victim.kill)]

    def kill_everybody(self) -> Later:
        for each in self.product.supervisor.processes:
            each.kill()
        return ()

    def kill_connectors(self) -> Later:
        self._kill_connectors()
        return ()

    def crash_postgres(self) -> Later:
        self.product.crash_postgres()
        return ()

    def stand_still(self) -> Later:
        """For longer than a lease; then it wakes up and believes that nothing has happened."""
        victim = self._anybody()
        victim.stand_still()
        return [(_LEASE + self.random.uniform(0.5, 3.0), victim.go_on)]

    def slow_disk(self) -> Later:
        """Every now and then nothing goes on for a moment, wherever it is."""
        victim, later, at = self._anybody(), list[tuple[float, Callable[[], None]]](), 0.0
        for _ in range(8):
            later += [(at, victim.stand_still), (at + self.random.uniform(0.1, 0.6), victim.go_on)]
            at += self.random.uniform(0.7, 1.0)
        return later

    def step_clock(self) -> Later:
        """One machine's wall clock is set, and later corrected."""
        victim = self._anybody()
        victim.clock.write_text(str(self.random.uniform(-_STEP, _STEP)))
        return [(self.random.uniform(2.0, 12.0), lambda: victim.clock.unlink(missing_ok=True))]

    def slow_shop(self) -> Later:
        shop = self.product.outside.shop
        shop.seconds = self.random.uniform(1.0, 10.0)
        return [(self.random.uniform(1.0, 4.0), shop.hurry)]

    def kill_in_effect(self) -> Later:
        """The next credit is made, and somebody dies before anybody hears of it."""
        hold = self.product.outside.shop.holds.add(lambda received: received.path == "/credits")
        victim = self.random.choice([self._kill_connectors, self.kill_everybody])
        return self._once_reached(hold, victim)

    def kill_in_reply(self) -> Later:
        """The next reply arrives, and everybody dies before hearing of it."""
        ends = ("/sendReply", "/comments")
        hold = self.product.outside.desk.holds.add(lambda got: got.method == "POST" and got.path.endswith(ends))
        return self._once_reached(hold, self.kill_everybody)

    def broken_desk(self) -> Later:
        desk = self.product.outside.desk
        desk.refuses = self.random.choice([500, 502, 429])
        return [(self.random.uniform(0.5, 3.0), desk.mend)]

    def slow_desk(self) -> Later:
        desk = self.product.outside.desk
        desk.seconds = self.random.uniform(0.5, 3.0)
        return [(self.random.uniform(1.0, 4.0), desk.mend)]

    def lost_answer(self) -> Later:
        """The desk does what it is asked, and the answer does not arrive, or only half of it."""
        path = self.random.choice(["/sendReply", "/comments", "/search"])
        method = "GET" if path == "/search" else "POST"
        self.product.outside.desk.troubles.coming.append(Trouble(method, path, self.random.choice(["lose", "cut"])))
        return ()

    def _once_reached(self, hold: Hold, then: Callable[[], object]) -> Later:
        """Looked at now and then; given up when nobody comes."""

        def look() -> None:
            if hold.reached.is_set() and not hold.released.is_set():
                then()
                hold.release()

        return [(0.2 * number, look) for number in range(1, 30)] + [(6.0, hold.release)]

    def _anybody(self) -> Supervised:
        return self.random.choice(self.product.supervisor.processes)

    def _kill_connectors(self) -> None:
        for pid in self.product.connectors():
            kill_if_there(pid)


_EVERYWHERE = {
    Faults.kill_process: 6,
    Faults.kill_twice: 2,
    Faults.kill_connectors: 3,
    Faults.stand_still: 2,
    Faults.slow_disk: 1,
    Faults.step_clock: 2,
    Faults.slow_shop: 2,
    Faults.kill_in_effect: 3,
    Faults.kill_in_reply: 3,
    Faults.broken_desk: 2,
    Faults.slow_desk: 1,
    Faults.lost_answer: 2,
}
_ON_POSTGRES = {**_EVERYWHERE, Faults.kill_everybody: 2, Faults.crash_postgres: 3}


def kinds(counts: Counter[str]) -> Sequence[str]:
    return [f"{name.replace('_', ' ')} {count}" for name, count in sorted(counts.items())]
