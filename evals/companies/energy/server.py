"""Tarnbeck Energy: customers, meters, top-ups, bills, payments, visits and power cuts of a regional utility.

`world.json` is the seed. In it, {{-3h}} or {{+2d|%d/%m/%Y}} stands for a moment before or after the seeding.
ENERGY_STATE names the file of the living world; it is made when it is not there. Beside it, <file>.calls.jsonl
gets one line for each call.
"""

import json
import os
import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

SEED = Path(__file__).with_name("world.json")
STATE = Path(os.environ.get("ENERGY_STATE") or Path(tempfile.gettempdir()) / "energy-state.json")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
MOMENT = re.compile(r"\{\{([+-]\d+)([mhd])(?:\|([^}]+))?\}\}")


def now() -> datetime:
    """ENERGY_NOW holds the time still, so that a recording can be played again."""
    told = os.environ.get("ENERGY_NOW")
    return datetime.fromisoformat(told) if told else datetime.now(UTC)


server = MCPServer("tarnbeck-energy")


class MeterPlate(BaseModel):
    serial: str
    type: str


class SupplyPoint(BaseModel):
    point_ref: str
    fuel: str
    meter: MeterPlate


class Customer(BaseModel):
    customer_no: str
    full_name: str
    email: str
    postcode: str
    tariff: str
    supply_points: list[SupplyPoint]


class Customers(BaseModel):
    customers: list[Customer]


class Reading(BaseModel):
    taken: str
    kwh: int
    source: str


class Meter(BaseModel):
    serial: str
    type: str
    relay: str
    credit_pence: int | None
    last_contact: str
    readings: list[Reading]


class MeterStatus(BaseModel):
    point_ref: str
    meter: Meter


class Token(BaseModel):
    last_digits: str
    delivery: str


class Topup(BaseModel):
    topup_no: str
    paid_at: str
    amount_pence: int
    token: Token


class Topups(BaseModel):
    point_ref: str
    topups: list[Topup]


class Basis(BaseModel):
    source: str
    reading_kwh: int


class Bill(BaseModel):
    bill_no: str
    period: str
    due: str
    total_pence: int
    status: str
    basis: Basis
    customer_reading_kwh: int | None


class Ledger(BaseModel):
    customer_no: str
    balance_pence: int
    bills: list[Bill]


class Bills(BaseModel):
    ledger: Ledger


class Payment(BaseModel):
    payment_no: str
    received: str
    amount_pence: int
    via: str
    state: str


class Month(BaseModel):
    month: str
    payments: list[Payment]


class Payments(BaseModel):
    customer_no: str
    months: list[Month]


class Visit(BaseModel):
    visit_no: str
    job: str
    day: str
    window: str
    state: str


class Visits(BaseModel):
    customer_no: str
    visits: list[Visit]


class Outage(BaseModel):
    outage_no: str
    areas: list[str]
    phase: str
    cause: str
    since: str
    expected_back: str
    homes: int


class Outages(BaseModel):
    outages: list[Outage]


class Receipt(BaseModel):
    ok: bool
    note: str


class World(BaseModel):
    customers: list[Customer]
    meters: list[MeterStatus]
    topups: list[Topups]
    ledgers: list[Ledger]
    payments: list[Payments]
    visits: list[Visits]
    outages: list[Outage]


def moment(found: re.Match[str]) -> str:
    amount, unit, style = found.groups()
    at = now() + timedelta(**{UNITS[unit]: int(amount)})
    return at.strftime(style) if style else at.isoformat(timespec="minutes")


def load() -> World:
    if not STATE.exists():
        save(World.model_validate_json(MOMENT.sub(moment, SEED.read_text("utf-8"))))
    return World.model_validate_json(STATE.read_text("utf-8"))


def save(world: World) -> None:
    STATE.parent.mkdir(parents=True, exist_ok=True)
    STATE.write_text(world.model_dump_json(indent=1), "utf-8")


def note(tool: str, args: dict[str, str], *, write: bool = False) -> None:
    with STATE.with_name(f"{STATE.name}.calls.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"tool": tool, "write": write, "args": args}) + "\n")


@server.tool()
def lookup_customer(email: str) -> Customers:
    """Find the customer with this e-mail address: customer number, postcode, tariff and supply points."""
    note("lookup_customer", {"email": email})
    return Customers(customers=[each for each in load().customers if each.email.casefold() == email.strip().casefold()])


@server.tool()
def meter_status(point_ref: str) -> MeterStatus:
    """Show the meter of a supply point: type, relay, credit in pence, last contact and latest readings."""
    note("meter_status", {"point_ref": point_ref})
    for each in load().meters:
        if each.point_ref == point_ref:
            return each
    raise ValueError(f"unknown supply point {point_ref}")


@server.tool()
def list_topups(point_ref: str) -> Topups:
    """List the prepayment top-ups of a supply point and whether each has reached the meter (loaded, waiting)."""
    note("list_topups", {"point_ref": point_ref})
    known = [each for each in load().topups if each.point_ref == point_ref]
    return known[0] if known else Topups(point_ref=point_ref, topups=[])


@server.tool()
def list_bills(customer_no: str) -> Bills:
    """List the bills of a customer, with totals in pence and whether the reading was actual or estimated."""
    note("list_bills", {"customer_no": customer_no})
    known = [each for each in load().ledgers if each.customer_no == customer_no]
    return Bills(ledger=known[0] if known else Ledger(customer_no=customer_no, balance_pence=0, bills=[]))


@server.tool()
def list_payments(customer_no: str) -> Payments:
    """List the payments received from a customer by month, and whether each is assigned to a bill."""
    note("list_payments", {"customer_no": customer_no})
    known = [each for each in load().payments if each.customer_no == customer_no]
    return known[0] if known else Payments(customer_no=customer_no, months=[])


@server.tool()
def list_visits(customer_no: str) -> Visits:
    """List the engineer visits of a customer: job, day, window and state (planned, missed, done)."""
    note("list_visits", {"customer_no": customer_no})
    known = [each for each in load().visits if each.customer_no == customer_no]
    return known[0] if known else Visits(customer_no=customer_no, visits=[])


@server.tool()
def current_outages(postcode: str) -> Outages:
    """List the power cuts that touch a postcode area now, with cause and expected end."""
    note("current_outages", {"postcode": postcode})
    return Outages(outages=[each for each in load().outages if postcode in each.areas])


@server.tool()
def resend_topup(topup_no: str) -> Receipt:
    """Send the token of a paid top-up to the meter again."""
    note("resend_topup", {"topup_no": topup_no}, write=True)
    world = load()
    for point in world.topups:
        for each in point.topups:
            if each.topup_no == topup_no:
                each.token.delivery = "loaded"
                save(world)
                return Receipt(ok=True, note="token sent")
    raise ValueError(f"unknown top-up {topup_no}")


@server.tool()
def assign_payment(payment_no: str) -> Receipt:
    """Book a payment that has no bill to the oldest open bill of the same customer."""
    note("assign_payment", {"payment_no": payment_no}, write=True)
    world = load()
    for account in world.payments:
        for payment in (each for month in account.months for each in month.payments):
            if payment.payment_no == payment_no:
                payment.state = "assigned"
                settle(world, account.customer_no)
                save(world)
                return Receipt(ok=True, note="booked to the oldest open bill")
    raise ValueError(f"unknown payment {payment_no}")


def settle(world: World, customer_no: str) -> None:
    bills = [each for ledger in world.ledgers if ledger.customer_no == customer_no for each in ledger.bills]
    for bill in sorted(bills, key=lambda each: each.due):
        if bill.status != "settled":
            bill.status = "settled"
            return


@server.tool()
def rebill(bill_no: str) -> Receipt:
    """Cancel an estimated bill and make a new one from the customer's own reading. Cannot be undone."""
    note("rebill", {"bill_no": bill_no}, write=True)
    world = load()
    for bill in (each for ledger in world.ledgers for each in ledger.bills):
        if bill.bill_no == bill_no and bill.customer_reading_kwh is not None:
            bill.status = "cancelled"
            bill.basis = Basis(source="customer", reading_kwh=bill.customer_reading_kwh)
            save(world)
            return Receipt(ok=True, note="cancelled, new bill follows by post")
    raise ValueError(f"bill {bill_no} cannot be made again")


@server.tool()
def rebook_visit(visit_no: str) -> Receipt:
    """Book a missed visit again on the next free day. Credits the missed-appointment payment by itself."""
    note("rebook_visit", {"visit_no": visit_no}, write=True)
    world = load()
    for visit in (each for customer in world.visits for each in customer.visits):
        if visit.visit_no == visit_no:
            visit.state = "planned"
            visit.day = (now() + timedelta(days=4)).strftime("%d/%m/%Y")
            save(world)
            return Receipt(ok=True, note=f"booked for {visit.day}, {visit.window}")
    raise ValueError(f"unknown visit {visit_no}")


if __name__ == "__main__":
    server.run()
