"""Invoices, charges and refunds."""

from typing import Annotated

from pydantic import BaseModel, Field

from gaby_connectors.sample_company.base import AccountId, connector, minted, written
from gaby_connectors.sample_company.company import CompanyBackend, done_before
from gaby_connectors.sdk.errors import conflict, invalid
from gaby_connectors.sdk.manifest import ResultLabel, ToolManifest
from gaby_connectors.sdk.tool import WriteCall

_CHARGES = """
    SELECT c.*, a.owner_email,
        (SELECT coalesce(sum(r.amount_cents), 0) FROM refunds r WHERE r.charge_id = c.id) AS refunded_cents
    FROM charges c JOIN accounts a ON a.id = c.account_id
"""
ChargeId = Annotated[str, Field(description="A charge's id, such as ch_03002.", pattern=r"^ch_\d{4,}$")]


class Invoice(BaseModel):
    id: str
    account_id: str
    owner_email: str
    amount_cents: int
    currency: str
    status: str
    issued_at: str
    due_at: str


class Invoices(BaseModel):
    invoices: list[Invoice]


class Charge(BaseModel):
    id: str
    account_id: str
    owner_email: str
    invoice_id: str
    amount_cents: int
    refunded_cents: int
    currency: str
    status: str
    failure: str | None
    card: str
    attempt: int
    payment_request: str
    created_at: str


class Charges(BaseModel):
    charges: list[Charge]


class RefundResult(BaseModel):
    refund_id: str
    charge_id: str
    amount_cents: int
    currency: str
    left_cents: int


@connector.tool(
    ToolManifest(
        scope="read",
        path="accounts/{account_id}/invoices",
        results=minted("invoices[]", "id", "account_id", "amount_cents", "currency", "status", "issued_at", "due_at"),
        owner={"invoices[]": "owner_email"},
    )
)
async def list_invoices(company: CompanyBackend, account_id: AccountId) -> Invoices:
    """Show the invoices of an account, the newest first, with what is paid and what is overdue."""
    rows = company.rows(
        "SELECT i.*, a.owner_email FROM invoices i JOIN accounts a ON a.id = i.account_id "
        "WHERE i.account_id = ? ORDER BY i.issued_at DESC",
        account_id,
    )
    return Invoices(invoices=[Invoice(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="read",
        path="accounts/{account_id}/charges",
        results=minted(
            "charges[]",
            "id",
            "account_id",
            "invoice_id",
            "amount_cents",
            "refunded_cents",
            "currency",
            "status",
            "failure",
            "card",
            "attempt",
            "payment_request",
            "created_at",
        )
        | written("charges[]", "owner_email"),
        owner={"charges[]": "owner_email"},
    )
)
async def list_charges(company: CompanyBackend, account_id: AccountId) -> Charges:
    """Show what was charged to an account's card: amounts, attempts, failures, refunds and the payment request."""
    rows = company.rows(_CHARGES + "WHERE c.account_id = ? ORDER BY c.created_at DESC, c.id DESC", account_id)
    return Charges(charges=[Charge(**row) for row in rows])


@connector.tool(
    ToolManifest(
        scope="write",
        path="charges/{charge_id}/refund",
        dangerous=True,
        steering=("charge_id", "amount_cents"),
        content=("reason",),
        supports_dry_run=True,
        idempotent=True,
        owner_argument="charge_id",
        results={"refund_id": ResultLabel.CREATED} | minted("", "charge_id", "amount_cents", "currency", "left_cents"),
    ),
    lookup=done_before(RefundResult),
)
async def refund_charge(
    company: CompanyBackend,
    charge_id: ChargeId,
    amount_cents: Annotated[int, Field(gt=0, le=10_000_000, description="How much to pay back, in cents.")],
    reason: Annotated[str, Field(min_length=3, max_length=500, description="Why, for the books.")],
    call: WriteCall,
) -> RefundResult:
    """Pay back a charge, or a part of it, to the card it came from."""
    charge = Charge(**company.row("charge", _CHARGES + "WHERE c.id = ?", charge_id))
    if charge.status != "succeeded":
        raise conflict(f"This charge is {charge.status}: there is nothing to pay back.")
    left = charge.amount_cents - charge.refunded_cents
    if amount_cents > left:
        raise invalid(f"Bad arguments: `amount_cents`: only {left} of this charge can still be paid back.")
    number = company.rows("SELECT count(*) + 1 AS n FROM refunds")[0]["n"]
    result = RefundResult(
        refund_id=f"ref_{number:03}",
        charge_id=charge_id,
        amount_cents=amount_cents,
        currency=charge.currency,
        left_cents=left - amount_cents,
    )
    return company.effect(
        "refund_charge",
        call,
        result,
        (
            "INSERT INTO refunds VALUES (?, ?, ?, ?, ?)",
            result.refund_id,
            charge_id,
            amount_cents,
            reason,
            company.stamp(),
        ),
    )
