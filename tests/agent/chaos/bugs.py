"""Bugs that somebody could make, planted on purpose in a forked process, to see that the harness finds them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from gaby.agent import loop, queue
from gaby.agent.memory import WorkingMemory
from gaby.agent.models import Investigation
from gaby.agent.run_loader import LoadedRun
from gaby.agent.run_start import RunStarter
from gaby.agent.tool_step import ToolStep
from gaby.agent.transitions import Lease, Transition, TransitionWriter
from gaby.audit import Fence
from gaby.kernel.database import WriteSession
from gaby.kernel.database.raw_sql import SqlRunner, begin
from gaby.kernel.failpoints import failpoint, failpoint_async
from gaby.tickets.postings import Poster
from gaby.tools import invoke
from gaby.tools.approvals import Approvals, as_fact
from gaby.tools.effects import EffectRunner
from gaby.tools.runs import ToolCall

BETWEEN = "bug.between"
"""A place in the middle of what a bug has torn apart."""


def plant(name: str | None) -> None:
    if name is not None:
        BUGS[name]()


def the_edge_is_written_after_its_run_has_moved() -> None:
    def nothing(_: Any, __: Any, ___: SqlRunner, ____: Transition) -> None: ...

    def all_of_it(add: Any, self: Any, sql: SqlRunner, edge: Transition) -> None:
        add(self, sql, edge)

    _torn(nothing, all_of_it)


def what_belongs_to_an_edge_is_written_later() -> None:
    def the_edge(add: Any, self: Any, sql: SqlRunner, edge: Transition) -> None:
        add(self, sql, edge._replace(also=()))

    def the_rest(_: Any, self: Any, sql: SqlRunner, edge: Transition) -> None:
        for statement in edge.also:
            sql.run(statement.sql, *(_of(self, "_bound")(value) for value in statement.parameters))

    _torn(the_edge, the_rest)


def _torn(
    first: Callable[[Any, Any, SqlRunner, Transition], None], then: Callable[[Any, Any, SqlRunner, Transition], None]
) -> None:
    """Two transactions instead of one."""
    write, add = _of(TransitionWriter, "_write"), _of(TransitionWriter, "_add")

    def torn(self: TransitionWriter, connection: Any, edges: Sequence[Transition]) -> Any:
        moved: list[Transition] = []

        def add_first(self: TransitionWriter, sql: SqlRunner, edge: Transition) -> None:
            moved.append(edge)
            first(add, self, sql, edge)

        _put(TransitionWriter, "_add", add_first)
        results = write(self, connection, edges)
        connection.commit()
        failpoint(BETWEEN)
        database = _of(self, "_database")
        begin(database, connection)
        sql = SqlRunner(connection, database.dialect)
        for edge in moved:
            then(add, self, sql, edge)
        sql.close()
        return results

    _put(TransitionWriter, "_write", torn)


def the_log_is_not_asked_what_was_done() -> None:
    async def recall(_: ToolStep, __: Any) -> dict[UUID, Any]:
        return {}

    _put(ToolStep, "_recall", recall)


def an_interrupted_change_gets_a_new_id() -> None:
    the_log_is_not_asked_what_was_done()
    do = _of(ToolStep, "_invoke")

    async def invoked(self: ToolStep, run: Any, call: Any) -> Any:
        return await do(self, run, replace(call, id=uuid4()) if run.fresh else call)

    _put(ToolStep, "_invoke", invoked)


def a_change_in_doubt_is_made_again() -> None:
    async def write(self: ToolStep, run: Any, call: Any, _: Any, __: Any) -> Any:
        return await _of(self, "_invoke")(run, call)

    _put(ToolStep, "_write", write)


def the_outcome_is_written_before_the_effect() -> None:
    class Mute:
        def succeeded(self, *_: Any) -> None: ...
        def failed(self, *_: Any) -> None: ...

    call = _of(EffectRunner, "_call")

    async def early(self: EffectRunner, decided: Any, run: Any, intent: Any, *, rehearsal: bool) -> Any:
        intent.succeeded({})
        return (self, decided, run, rehearsal)

    perform = _of(EffectRunner, "perform")

    async def performed(self: EffectRunner, decided: Any, run: Any, *, rehearsal: bool) -> Any:
        await perform(self, decided, run, rehearsal=rehearsal)
        await failpoint_async(f"{BETWEEN}.{decided.entry.facts.access}")
        return await call(self, decided, run, Mute(), rehearsal=rehearsal)

    _put(EffectRunner, "_call", early)
    _put(EffectRunner, "perform", performed)


def a_used_approval_is_worth_nothing_after_a_crash() -> None:
    def fact(approval: Any, call: ToolCall) -> Any:
        return as_fact(approval, ToolCall(call.tool, call.arguments, call.id, resumed=False))

    _put(invoke, "as_fact", fact)


def the_same_is_asked_again() -> None:
    async def asked_before(*_: Any) -> None:
        return None

    _put(Approvals, "_asked_before", asked_before)


def an_answer_wakes_nobody() -> None:
    async def wake(*_: Any) -> None: ...

    _put(RunStarter, "_wake", wake)


def only_the_last_edge_is_remembered() -> None:
    whole = loop.load

    async def load(session: Any, vault: Any, run: Any) -> LoadedRun:
        loaded = await whole(session, vault, run)
        memory = WorkingMemory(ticket=loaded.memory.ticket, placeholders=loaded.memory.placeholders)
        return replace(loaded, memory=memory)

    _put(loop, "load", load)


def a_posting_is_not_noted_before_it_is_sent() -> None:
    async def note(*_: Any, **__: Any) -> None: ...

    _put(Poster, "_note", note)


def a_posting_is_called_posted_before_it_is_sent() -> None:
    note = _of(Poster, "_note")

    async def noted(self: Poster, place: Any, posting: Any, *, state: str, tries: int, **more: Any) -> None:
        await note(self, place, posting, state="posted" if state == "sending" else state, tries=tries, **more)

    _put(Poster, "_note", noted)


def in_doubt_a_reply_is_sent_again_without_looking() -> None:
    _put(Poster, "_after_doubt", _of(Poster, "_send"))


def a_reply_has_another_marker_on_each_try() -> None:
    sending = _of(Poster, "_sending")

    async def sent(self: Poster, posting: Any, *rest: Any) -> Any:
        posting.marker = f"gaby-{uuid4().hex}"
        return await sending(self, posting, *rest)

    _put(Poster, "_sending", sent)


def a_ticket_is_stored_before_its_run() -> None:
    heard = RunStarter.heard

    async def late(self: RunStarter, session: WriteSession, events: Any) -> None:
        if any(event.name == "ticket.received" for event in events):
            await session.commit()
            failpoint(BETWEEN)
        await heard(self, session, events)

    _put(RunStarter, "heard", late)


def nobody_looks_at_the_lease_before_an_effect() -> None:
    always = property(lambda _: Fence("SELECT 1 WHERE ? = ? OR 1 = 1", ("", ""), 1))
    _put(Lease, "fence", always)


def a_claim_leaves_the_old_token_valid() -> None:
    taken = vars(queue)["_claim_statement"]

    def same(owner: str, now: Any, lease: Any) -> Any:
        return taken(owner, now, lease).values(lease_token=Investigation.lease_token)

    _put(queue, "_claim_statement", same)


def _of(owner: Any, name: str) -> Any:
    return getattr(owner, name)


def _put(owner: Any, name: str, value: Any) -> None:
    # A name that is not there any more would plant nothing.
    assert hasattr(owner, name), name
    setattr(owner, name, value)


BUGS: Mapping[str, Callable[[], None]] = {
    bug.__name__: bug
    for bug in (
        the_edge_is_written_after_its_run_has_moved,
        what_belongs_to_an_edge_is_written_later,
        the_log_is_not_asked_what_was_done,
        an_interrupted_change_gets_a_new_id,
        a_change_in_doubt_is_made_again,
        the_outcome_is_written_before_the_effect,
        a_used_approval_is_worth_nothing_after_a_crash,
        the_same_is_asked_again,
        an_answer_wakes_nobody,
        only_the_last_edge_is_remembered,
        a_posting_is_not_noted_before_it_is_sent,
        a_posting_is_called_posted_before_it_is_sent,
        in_doubt_a_reply_is_sent_again_without_looking,
        a_reply_has_another_marker_on_each_try,
        a_ticket_is_stored_before_its_run,
        nobody_looks_at_the_lease_before_an_effect,
        a_claim_leaves_the_old_token_valid,
    )
}
