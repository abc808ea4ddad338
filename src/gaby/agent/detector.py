"""The loop detector: sees when an investigation goes round in circles. First a word, then the tool is withdrawn, then
the verdict."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gaby.agent.memory import CallRecord
from gaby.mind.situations import call_key

_REPEATS = 3
_STREAK = 3
_NUDGES = 2


@dataclass(frozen=True)
class LoopSignals:
    nudges: tuple[str, ...] = ()
    withdraw: tuple[str, ...] = ()
    enough: str | None = None
    """Why nothing more will come of it."""


def notice(calls: Sequence[CallRecord], nudges: Sequence[str], withdrawn: Sequence[str]) -> LoopSignals:
    """What the calls so far show. Each trouble is told once; whoever goes on after that loses the tool."""
    troubles = {**_repeated(calls), **_alternating(calls), **_failing(calls)}
    nudged = tuple(word for tool, word in troubles.items() if word not in nudges and tool not in withdrawn)
    again = tuple(tool for tool, word in troubles.items() if word in nudges and tool not in withdrawn)
    if again and len(withdrawn) >= _NUDGES:
        return LoopSignals(enough="It goes round in circles.")
    if calls and len(calls) >= _STREAK * 2 and all(call.outcome != "done" for call in calls[-_STREAK * 2 :]):
        return LoopSignals(enough="Nothing that is tried works.")
    return LoopSignals(nudged, again)


def _repeated(calls: Sequence[CallRecord]) -> dict[str, str]:
    """The same call again and again. A read after a change is a new look."""
    counts: Counter[str] = Counter()
    tools: dict[str, str] = {}
    for call in calls:
        if call.access == "write" and call.outcome == "done":
            counts.clear()
        key = call_key(call.tool, call.arguments)
        counts[key] += 1
        tools[key] = call.tool
    return {
        tools[key]: f"{tools[key]} was called {_REPEATS} times with the same arguments and says nothing new."
        for key, count in counts.items()
        if count >= _REPEATS
    }


def _alternating(calls: Sequence[CallRecord]) -> dict[str, str]:
    """A, B, A, B with nothing new in between."""
    keys = [call_key(call.tool, call.arguments) for call in calls[-4:]]
    if len(keys) < 4 or keys[0] == keys[1] or keys[:2] != keys[2:]:
        return {}
    tool, other = calls[-1].tool, calls[-2].tool
    return {tool: f"{other} and {tool} take turns and say nothing new."}


def _failing(calls: Sequence[CallRecord]) -> dict[str, str]:
    streaks: Counter[str] = Counter()
    for call in calls:
        streaks[call.tool] = streaks[call.tool] + 1 if call.outcome in {"failed", "denied"} else 0
    return {
        tool: f"{tool} did not work {_STREAK} times in a row. Do without it."
        for tool, count in streaks.items()
        if count >= _STREAK
    }
