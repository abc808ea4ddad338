"""What must be true after any disturbance, compared with a run that nobody disturbed."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.agent.chaos.facts import Facts, RunFacts
from tests.agent.chaos.scenarios import Scenario


def problems(scenario: Scenario, usual: Facts, now: Facts) -> list[str]:
    """Everything that is not as promised; nothing when all is well."""
    return [f"{rule.__name__.strip('_')}: {told}" for rule in _RULES for told in rule(scenario, usual, now)]


def _every_ticket_has_one_run(_: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    held = [run["ticket"] for run in now["runs"]]
    if now["tickets"] != usual["tickets"] or held != [run["ticket"] for run in usual["runs"]]:
        yield f"{now['tickets']} tickets, with runs for {held}"


def _every_run_has_ended(_: Scenario, __: Facts, now: Facts) -> Iterator[str]:
    for run in now["runs"]:
        if run["open"] or run["state"] != "done":
            wait = "never" if run["due_in"] is None else f"in {run['due_in']:.0f} minutes"
            yield f"{run['ticket']} is {run['state']}, taken up again {wait}"


def _the_verdict_is_the_usual_one(scenario: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    doubt = now["in_doubt"] and not scenario.repeatable
    for run, before in zip(now["runs"], usual["runs"], strict=False):
        wanted = "needs_tech" if doubt else before["verdict"]
        if run["verdict"] != wanted or run["ticket_status"] != wanted:
            yield f"{run['verdict']} on a ticket that is {run['ticket_status']}, and not {wanted}"


def _no_effect_happens_twice(_: Scenario, __: Facts, now: Facts) -> Iterator[str]:
    yield from _twice(now["effects"])


def _the_effects_are_the_usual_ones(scenario: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    doubt = now["in_doubt"] and not scenario.repeatable
    if now["effects"] != usual["effects"] and not (doubt and not now["effects"]):
        yield f"{now['effects']} instead of {usual['effects']}"


def _a_change_keeps_its_id(_: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    if len(set(map(tuple, now["intents"]))) > len(set(map(tuple, usual["intents"]))):
        yield f"{now['intents']}"


def _gaby_says_it_once(scenario: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    # Where a change is in doubt, a colleague is told of it and the requester that a colleague goes on.
    more = _acknowledged(now) - _acknowledged(usual)
    if len(now["messages"]) != len(usual["messages"]) + more:
        yield f"{len(now['messages'])} messages instead of {len(usual['messages'])}"
    elif more and now["in_doubt"]:
        return
    elif now["messages"] != usual["messages"] and not (now["in_doubt"] and not scenario.repeatable):
        yield f"{now['messages']} instead of {usual['messages']}"


def _acknowledged(facts: Facts) -> int:
    return sum(each[0] == "ack" for each in facts["postings"])


def _every_posting_arrived_once(_: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    expected = usual["postings"]
    if now["in_doubt"] and _acknowledged(now) == 1:
        expected = sorted([*(each for each in expected if each[0] != "ack"), ["ack", "posted"]])
    if now["postings"] != expected:
        yield f"{now['postings']} instead of {expected}"
    if not set(now["replies_sent"]) <= set(now["markers"]):
        yield f"sent under {now['replies_sent']}, noted under {now['markers']}"


def _the_desk_has_every_reply_once(_: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    more = _acknowledged(now) - _acknowledged(usual) if now["desk"] else 0
    if len(now["desk"]) != len(usual["desk"]) + more:
        yield f"{now['desk']} instead of {usual['desk']}"


def _people_are_asked_once(_: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    if now["approvals"] != usual["approvals"]:
        yield f"{now['approvals']} instead of {usual['approvals']}"


def _edges_are_whole(_: Scenario, __: Facts, now: Facts) -> Iterator[str]:
    for run in now["runs"]:
        numbers = list(range(1, run["edges"] + 1))
        if [n for n, _ in run["written"]] != numbers:
            yield f"edges {[n for n, _ in run['written']]} of {run['edges']}"
        if run["moves"] != run["written"]:
            yield f"the log tells {run['moves']}, the edges {run['written']}"
        if not {n for n, _, _ in run["steps"]} <= set(numbers):
            yield "a line of the timeline has no edge"


def _the_timeline_is_the_usual_one(scenario: Scenario, usual: Facts, now: Facts) -> Iterator[str]:
    if now["in_doubt"] and not scenario.repeatable:
        return
    for run, before in zip(now["runs"], usual["runs"], strict=False):
        if _lines(run) != _lines(before):
            yield f"{_lines(run)} instead of {_lines(before)}"


def _the_audit_log_holds(_: Scenario, __: Facts, now: Facts) -> Iterator[str]:
    yield from now["findings"]


def _lines(run: RunFacts) -> list[str]:
    return [f"{system} {action}" for _, system, action in run["steps"]]


def _twice(values: Sequence[Any]) -> Iterator[str]:
    yield from (value for value, count in Counter(map(str, values)).items() if count > 1)


_RULES: tuple[Callable[[Scenario, Facts, Facts], Iterator[str]], ...] = (
    _every_ticket_has_one_run,
    _every_run_has_ended,
    _the_verdict_is_the_usual_one,
    _no_effect_happens_twice,
    _the_effects_are_the_usual_ones,
    _a_change_keeps_its_id,
    _gaby_says_it_once,
    _every_posting_arrived_once,
    _the_desk_has_every_reply_once,
    _people_are_asked_once,
    _edges_are_whole,
    _the_timeline_is_the_usual_one,
    _the_audit_log_holds,
)
