"""A small back office: one read that is never remembered, and one write for the decision alone."""

from pydantic import BaseModel

from gaby_connectors.sdk.connector import Connector
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.sdk.serve import main
from gaby_connectors.sdk.tool import WriteCall

_FOUND = {"order_id": ResultLabel.SYSTEM, "state": ResultLabel.SYSTEM}


class Order(BaseModel):
    order_id: str
    state: str
    note: str


class Changed(BaseModel):
    done: str


connector = Connector("orders", version="1.0.0", instructions="For benchmarks.")


@connector.tool(ToolManifest(scope="read", path="orders", lookups=("order_id", "about"), results=_FOUND, cache=False))
async def read_order(order_id: str, about: str) -> Order:
    """Read an order: where it is, and what was written about it."""
    note = f"About {about[:40]}: handed to the carrier, the customer was told, and nobody has signed for it yet."
    return Order(order_id=order_id, state="shipped", note=note)


@connector.tool(
    ToolManifest(
        scope="write",
        path="orders/{order_id}/refund",
        steering=("order_id", "customer_id", "reason_code"),
        content=("note", "message"),
        idempotent=True,
    )
)
async def refund(
    order_id: str, customer_id: str, reason_code: str, note: str, message: str, call: WriteCall
) -> Changed:
    """Refund an order, with a note for colleagues and a message for the customer."""
    told = f"{order_id} of {customer_id}, {reason_code}: {note} {message}"
    return Changed(done=f"would refund {told}" if call.dry_run else f"refunded {told}")


if __name__ == "__main__":
    main(connector)
