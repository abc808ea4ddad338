"""A state has exactly its ways out, and what a run remembers is the fold of what its edges added."""

import inspect
from datetime import UTC, datetime
from typing import get_args, get_type_hints
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from gaby.agent import states
from gaby.agent.memory import (
    CallRecord,
    MemoryDelta,
    PassageRecord,
    SimilarTicket,
    TicketView,
    WorkingMemory,
    pack,
    unpack,
)
from gaby.agent.states import STATE, State
from gaby.tools import ToolCall

pytestmark = pytest.mark.promise("L1")
WORKING = {"verdict_ready": "Judging", "out_of_budget": "Judging", "broken": "Judging", "halted": "Halted"}
WAYS_OUT: dict[str, dict[str, str]] = {
    "Created": {**WORKING, "started": "Planning", "follow": "Judging", "put_off": "Created"},
    "Planning": {**WORKING, "retrieve": "Retrieving", "propose": "SafetyCheck", "offer_tools": "Planning"},
    "Retrieving": {**WORKING, "retrieved": "Planning", "retrieved_with_calls": "SafetyCheck"},
    "SafetyCheck": {**WORKING, "allowed": "Acting", "ask": "WaitingApproval", "denied": "Planning"},
    "WaitingApproval": {
        **WORKING,
        "approved": "Acting",
        "still_waiting": "WaitingApproval",
        "turned_down": "Planning",
    },
    "Acting": {
        **WORKING,
        "acted": "Observing",
        "put_off": "Acting",
        "rested": "SafetyCheck",
    },
    "Observing": {**WORKING, "observed": "Planning"},
    "Judging": {"halted": "Halted", "judged": "WritingBack", "failed": "Judging"},
    "WritingBack": {
        "halted": "Halted",
        "posted": "DoneState",
        "still_due": "WritingBack",
        "undelivered": "WritingBack",
    },
    "DoneState": {"halted": "Halted"},
    "Halted": {"halted": "Halted"},
}
KINDS: tuple[type[BaseModel], ...] = get_args(get_args(State)[0])


def ways_out(kind: type[BaseModel]) -> dict[str, str]:
    """Each method that a state has of its own, with the state that it leads to."""
    given = set(dir(BaseModel))
    methods = inspect.getmembers(kind, inspect.isfunction)
    return {
        name: get_type_hints(method)["return"].__name__
        for name, method in methods
        if name not in given and not name.startswith("_")
    }


def test_each_state_has_exactly_its_ways_out() -> None:
    assert {kind.__name__: ways_out(kind) for kind in KINDS} == WAYS_OUT


def test_a_state_that_is_not_known_or_says_too_much_is_refused() -> None:
    for told in ({"name": "dreaming"}, {"name": "planning", "calls": "x"}, {"name": "retrieving"}, {}):
        with pytest.raises(ValidationError):
            STATE.validate_python(told)


text = st.text(st.characters(codec="utf-8"), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
ids = st.uuids(version=4)
calls = st.builds(
    CallRecord,
    id=ids,
    number=st.integers(1, 99),
    tool=text,
    arguments=st.dictionaries(text, json_values, max_size=3),
    access=st.sampled_from(["read", "write"]),
    outcome=st.sampled_from(["done", "simulated", "asked", "denied", "failed", "unknown"]),
    result=json_values,
)
passages = st.builds(
    PassageRecord,
    citation=text,
    document_id=ids,
    title=text,
    text=text,
    confidence=st.floats(0, 1),
    trusted=st.booleans(),
)


def several(of: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=3).map(tuple)


fields: dict[str, st.SearchStrategy[object]] = {
    "ticket": st.builds(TicketView, title=text, body=text, messages=several(text)),
    "intent": text,
    "worth_investigating": st.booleans(),
    "queries": several(text),
    "passages": several(passages),
    "similar": several(st.builds(SimilarTicket, title=text, status=text)),
    "calls": several(calls),
    "nudges": several(text),
    "withdrawn": several(text),
    "iterations": st.integers(0, 3),
    "seconds": st.integers(0, 1000).map(lambda value: value / 8),
    "tokens": st.integers(0, 10_000),
    "nano_usd": st.integers(0, 10**9),
    "verdict": st.sampled_from(["needs_tech", "auto_resolved"]),
    "reply": text,
}
deltas = st.fixed_dictionaries({}, optional=fields).map(MemoryDelta.model_validate)
planned = st.builds(ToolCall, id=ids, tool=text, arguments=st.dictionaries(text, json_values, max_size=2))
some_states = st.one_of(
    st.builds(states.Created),
    st.builds(states.Retrieving, queries=several(text)),
    st.builds(states.SafetyCheck, calls=several(planned)),
    st.builds(states.WaitingApproval, calls=several(planned), until=st.just(datetime(2030, 1, 2, tzinfo=UTC))),
    st.builds(states.Judging, because=text, follows=st.none() | st.just(UUID(int=7))),
    st.builds(states.DoneState, verdict=st.just("skipped")),
)


@pytest.mark.promise("L2")
@given(st.lists(st.tuples(some_states, deltas), max_size=5))
def test_what_the_edges_added_folded_again_is_the_memory(edges: list[tuple[State, MemoryDelta]]) -> None:
    live, loaded = WorkingMemory(), WorkingMemory()
    for state, delta in edges:
        live.add(delta)
        told, added = unpack(pack(state, delta))
        assert told == state
        loaded.add(added)
    assert loaded == live


@pytest.mark.promise("L2")
def test_what_an_edge_does_not_say_is_not_stored_and_changes_nothing() -> None:
    memory = WorkingMemory(intent="outage", worth_investigating=False, verdict="needs_tech")
    before = memory.model_copy(deep=True)
    quiet = pack(states.Planning(), MemoryDelta())
    memory.add(unpack(quiet)[1])

    assert memory == before
    assert len(quiet) < 60
    long = MemoryDelta(reply="The disk is full. " * 500)
    assert len(pack(states.Planning(), long)) < 500


def test_a_call_is_stored_under_the_key_that_earlier_versions_read() -> None:
    call = CallRecord(id=UUID(int=1), number=1, tool="crm.find", arguments={}, access="read", outcome="done")
    assert call.model_dump()["lane"] == "read"
    assert CallRecord.model_validate(call.model_dump()) == call
