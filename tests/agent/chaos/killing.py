"""Killing: a process dies at a named place, another takes up what it left, and what is there then is looked at."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.agent.chaos.checks import problems
from tests.agent.chaos.facts import Facts
from tests.agent.chaos.harness import Stage
from tests.agent.chaos.scenarios import SCENARIOS, Scenario

LATER = 10
"""Minutes between two starts, so that the dead one's lease has ended."""


@dataclass(frozen=True)
class Case:
    """Where each process in turn is killed; the last one is left alone."""

    kills: tuple[str, ...]
    bug: str | None = None
    answers_first: bool = False
    """Somebody answers questions while nobody works."""
    jam: bool = False
    """The shop's printer fails at the first try."""

    def __str__(self) -> str:
        return " then ".join(self.kills)


@dataclass
class Trial:
    stage: Stage
    scenario: Scenario
    usual: Facts
    passed: Counter[str]
    """How often an undisturbed run passes each place."""
    more: dict[str, Any] = field(default_factory=dict[str, Any])

    def disturb(self, case: Case) -> "list[str] | None":
        """What is wrong afterwards. None when a place was not passed, so nobody was killed."""
        self.stage.set()
        if case.jam:
            (self.stage.home / "place" / "jam").touch()
        for number, place in enumerate(case.kills):
            name, _, hit = place.partition("@")
            ended = self.stage.work(f"{name}=kill@{hit or 1}", **self._given(case, number))
            if not ended.killed:
                return None
        ended = self.stage.work(**self._given(case, len(case.kills)))
        if ended.code != 0:
            return [f"the next process ended with {ended.code}: {self.stage.herd.last_words()}"]
        return problems(self.scenario, self.usual, ended.result)

    def receive_killed(self, bug: str | None, place: str) -> list[str]:
        """What is wrong after a process was killed there while it took in one more ticket."""
        self.stage.set()
        ended = self.stage.work(f"{place}=kill", bug=bug, receive="label")
        assert ended.killed, self.stage.herd.last_words()
        ended = self.stage.work(later=LATER, bug=bug)
        assert ended.code == 0, self.stage.herd.last_words()
        return [told for told in problems(self.scenario, self.usual, ended.result) if "one_run" in told]

    def each_hit(self, names: Sequence[str], most: int = 1000) -> Iterator[str]:
        for name in names:
            yield from (f"{name}@{hit}" for hit in range(1, min(self.passed[name], most) + 1))

    def _given(self, case: Case, number: int) -> dict[str, Any]:
        first = case.answers_first and number > 0
        return {"later": LATER * number, "bug": case.bug, "answers_first": first, **self.more}


def undisturbed(stage: Stage, **more: Any) -> Trial:
    """One run that nobody disturbs, to compare with."""
    [name] = stage.scenarios
    scenario = SCENARIOS[name]
    stage.set()
    trace = stage.home / "passed"
    ended = stage.work(trace=str(trace), **more)
    assert ended.code == 0, stage.herd.last_words()
    usual: Facts = ended.result
    assert [(run["state"], run["verdict"]) for run in usual["runs"]] == [("done", scenario.verdict)], usual
    return Trial(stage, scenario, usual, Counter(trace.read_text().split()), more)
