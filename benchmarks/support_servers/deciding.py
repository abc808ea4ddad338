"""Deciding and redacting alone, on a large write in the middle of a long run: no connector, no database, no disk."""

from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from time import perf_counter
from typing import Any
from uuid import UUID

from benchmarks.support_servers.orders import connector
from gaby.kernel.actors import system_actor
from gaby.kernel.ids import RunId, WorkspaceId
from gaby.mcp import ServerKey, read_definitions
from gaby.safety import (
    AccessRules,
    Label,
    Origin,
    Placeholders,
    Policy,
    Redactor,
    Scopes,
    ToolFacts,
    Verdict,
    access_of,
    roles,
    tag_from,
)
from gaby.safety.decide import decide
from gaby.tools import Run
from gaby.tools.catalogue import ConnectorEntry, ToolEntry
from gaby.tools.gather import Circumstances, gather
from gaby.tools.redacted_view import real_arguments, shown_arguments
from gaby_connectors.sdk.manifest import Autonomy

_WORKSPACE = WorkspaceId(UUID(int=0xACE))
_SENTENCE = (
    "The parcel left the depot on Monday, the carrier says it was handed over, and the customer says it was not. "
)
_MAIL = (
    "Write to customer{0}@globex.example or call +49 30 1234{0:04}; see https://shop.acme.example/orders/ord-{0:06}. "
)


def measure(rounds: int) -> dict[str, float]:
    """Milliseconds, with every steering value vouched for and with one that only a stranger has named."""
    entry = _entry()
    run = _run()
    known = [_call(number, f"ord-{number % 200:06}") for number in range(rounds)]
    foreign = [_call(number, f"ord-{900_000 + number % 20}") for number in range(rounds)]
    around = Circumstances(now=datetime.now(UTC))

    def decided(arguments: dict[str, Any]) -> Verdict:
        return decide(gather(entry, real_arguments(arguments, run), run, around), entry.connector.policy)

    assert decided(known[0]).rule == "egress.carrier", decided(known[0])
    assert decided(foreign[0]).concerns[0].rule == "provenance", decided(foreign[0])

    def decided_and_redacted(arguments: dict[str, Any]) -> object:
        """As each call is: the texts are searched once for both."""
        return decided(arguments), shown_arguments(arguments, run)

    return {
        "bytes": len(str(known[0])),
        "decide_ms": round(_each(decided, known), 3),
        "decide_from_outside_ms": round(_each(decided, foreign), 3),
        "redact_ms": round(_each(lambda call: shown_arguments(call, run), known), 3),
        "decide_and_redact_ms": round(max(_each(decided_and_redacted, calls) for calls in (known, foreign)), 3),
    }


def _each(work: Callable[[dict[str, Any]], object], calls: list[dict[str, Any]]) -> float:
    spans: list[float] = []
    for call in calls:
        begin = perf_counter()
        work(call)
        spans.append(perf_counter() - begin)
    return median(spans) * 1000


def _call(number: int, order_id: str) -> dict[str, Any]:
    """Two texts of 2 KB: one with an address, a number and a link, the other with a link."""
    link = f"https://shop.acme.example/orders/{order_id}"
    return {
        "order_id": order_id,
        "customer_id": f"cus-{number % 200:04}",
        "reason_code": "lost-in-transit",
        "note": (_MAIL.format(number) + _SENTENCE * 20)[:2000],
        "message": (f"Dear customer, {link} is what we know. " + _SENTENCE * 20)[:2000],
    }


def _run() -> Run:
    run = Run(
        id=RunId(UUID(int=1)),
        actor=system_actor("agent", _WORKSPACE),
        redactor=Redactor(),
        placeholders=Placeholders(tag_from(bytes(range(8)))),
    )
    prompt = "Refund orders of the reason lost-in-transit when the carrier has no signature. " + _SENTENCE * 18
    run.ledger.hear_operator("the playbook Refunds", prompt[:2000])
    for number in range(20):
        text = f"Ticket {number}: my order ord-{900_000 + number} is lost. {_MAIL.format(number)}" + _SENTENCE * 12
        run.ledger.read_external(f"ticket {number}", text)
    source = "the result of orders.list_orders"
    orders, customers = (Origin(Label.SYSTEM, source, "orders", kind) for kind in ("order", "customer"))
    run.ledger.learn_all((f"ord-{number:06}" for number in range(200)), orders)
    run.ledger.learn_all((f"cus-{number:04}" for number in range(200)), customers)
    return run


def _entry() -> ToolEntry:
    tool = connector.tools["refund"]
    wire = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    shown = read_definitions([wire], server_name="orders", server_version="1.0.0", experimental=None)
    of_arguments = roles(tool.manifest, tool.input_schema)
    facts = ToolFacts(
        connector="orders",
        name=tool.name,
        manifest=tool.manifest,
        unsafe=False,
        schema=tool.input_schema,
        roles=of_arguments,
        access=access_of(tool.manifest, of_arguments),
        fingerprint=shown.fingerprint,
    )
    policy = Policy(Autonomy.ACT, Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=("**",))))
    connected = ConnectorEntry(
        key=ServerKey(_WORKSPACE, "orders"),
        policy=policy,
        version="1",
        fingerprint=shown.fingerprint,
        quarantined=False,
        killed=None,
    )
    return ToolEntry(connected, shown.tools[0], facts)
