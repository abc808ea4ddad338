"""What a run has read, entered into its ledger: whose words they are, and who may be told of them."""

from collections.abc import Sequence

from gaby.agent.memory import PassageRecord, TicketView
from gaby.agent.retry_later import WAITED_TOO_LONG
from gaby.agent.run_context import InvestigationContext
from gaby.safety import EVERYBODY, STAFF_ONLY, Readers, owned_by
from gaby.tools.disclosure import requester_of
from gaby.tools.runs import result_source
from gaby_connectors.sdk.manifest import Audience


def enter_memory(run: InvestigationContext) -> None:
    """Everything that a run which is taken up again had read before; results are entered by the path to tools."""
    enter_ticket(run, run.memory.ticket)
    enter_passages(run, run.memory.passages, internal=run.memory.internal)
    enter_earlier(run, run.memory.earlier, is_open=run.memory.earlier_is_open)


def enter_earlier(run: InvestigationContext, changes: Sequence[str], *, is_open: bool) -> None:
    """Changes of earlier investigations, as a planner is shown them: for the requester, if they were told all that was
    read then, and are vouched for now."""
    if changes:
        readers = owned_by(run.ticket.requester_email) if is_open and run.ticket.requester_email else STAFF_ONLY
        run.tools.ledger.reading.read("changes that were made on the ticket before", [readers])


def enter_ticket(run: InvestigationContext, ticket: TicketView) -> None:
    ledger = run.tools.ledger
    if not (ticket.body or ticket.title):
        return
    text = "\n\n".join((ticket.title, ticket.body, *ticket.messages))
    ledger.read_external("the ticket", text)
    # Whoever gets the reply has seen what they wrote; what others wrote on the ticket need not be for them.
    seen = f"{ticket.title}\n\n{ticket.body}" if ticket.others else text
    ledger.reading.read_text("the ticket", seen, EVERYBODY)
    if ticket.others:
        ledger.reading.read("messages of others on the ticket", [STAFF_ONLY])
    if run.instructed:
        ledger.hear_operator("the operator's instruction", f"{ticket.title}\n\n{ticket.body}")
    elif ticket.verified:
        # Their own links may be told back to them. They steer nothing.
        ledger.trust_carriers(text)
    if ticket.notes:
        ledger.reading.read("private notes on the ticket", [STAFF_ONLY])


def enter_calls(run: InvestigationContext) -> None:
    """Whatever a planner is shown of calls is in the ledger. What nobody has entered with its readers is for the staff,
    such as what a colleague wrote when they refused; only Gaby's own reasons tell nothing."""
    tools = run.tools
    for call in run.memory.calls:
        # The name of a tool stands in the list of sources, and may look like a host.
        tools.ledger.trust_carriers(call.citation)
        decided = call.outcome in {"denied", "asked"} or call.rule == WAITED_TOO_LONG
        own_words = decided and call.rule and not call.rule.startswith("approval.")
        if call.id not in tools.entered and not own_words:
            tools.ledger.reading.read(result_source(call.tool), [STAFF_ONLY])
            tools.entered.add(call.id)


def enter_passages(run: InvestigationContext, passages: Sequence[PassageRecord], *, internal: bool) -> None:
    """A page that nobody was shown is not read; but whoever repeats it is found out all the same."""
    ledger, reader = run.tools.ledger, requester_of(run.tools)
    for each in passages:
        readers = Readers(Audience(each.audience))
        if internal or readers.allow(reader):
            ledger.reading.read(each.title, [readers])
        ledger.reading.read_text(each.title, each.text, readers)
        if each.trusted:
            ledger.trust_carriers(f"{each.text}\n{each.citation}")
