"""What a run has read, entered into its ledger: whose words they are, and who may be told of them."""

from collections.abc import Sequence

from gaby.agent.memory import PassageRecord, TicketView
from gaby.agent.moves import Investigating
from gaby.safety import STAFF_ONLY, Readers
from gaby_connectors.sdk.manifest import Audience


def hear_ticket(run: Investigating, ticket: TicketView) -> None:
    ledger = run.tools.ledger
    if not (ticket.body or ticket.title):
        return
    ledger.read_external("the ticket", "\n\n".join((ticket.title, ticket.body, *ticket.messages)))
    if run.ticket.operator is not None:
        ledger.hear_operator("the operator's instruction", f"{ticket.title}\n\n{ticket.body}")
    elif ticket.verified:
        # Their own links may be told back to them. They steer nothing.
        ledger.trust_carriers("\n\n".join((ticket.title, ticket.body, *ticket.messages)))
    if ticket.notes:
        ledger.reading.read("private notes on the ticket", [STAFF_ONLY])


def hear_passages(run: Investigating, passages: Sequence[PassageRecord]) -> None:
    ledger = run.tools.ledger
    for each in passages:
        readers = Readers(Audience(each.audience))
        ledger.reading.read(each.title, [readers])
        ledger.reading.read_text(each.title, each.text, readers)
        if each.trusted:
            ledger.trust_carriers(f"{each.text}\n{each.citation}")


def hear_borrowed(run: Investigating) -> None:
    """Words of a model that had read another requester's ticket."""
    run.tools.ledger.reading.read("the investigation of another ticket", [STAFF_ONLY])
