"""Stennay Line: travellers, bookings, island passes, card charges, lost things and the sailing board of a ferry line.

`world.json` is the seed. In it, {{-3h}} or {{+2d|%d %b %Y}} stands for a moment before or after the seeding.
FERRY_STATE names the file of the living world; it is made when it is not there. Beside it, <file>.calls.jsonl
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
STATE = Path(os.environ.get("FERRY_STATE") or Path(tempfile.gettempdir()) / "ferry-state.json")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
MOMENT = re.compile(r"\{\{([+-]\d+)([mhd])(?:\|([^}]+))?\}\}")

server = MCPServer("stennay-line")


def now() -> datetime:
    """FERRY_NOW holds the time still, so that a recording can be played again."""
    told = os.environ.get("FERRY_NOW")
    return datetime.fromisoformat(told) if told else datetime.now(UTC)


class Traveller(BaseModel):
    traveller: str
    name: str
    mail: str
    home_port: str
    islander: bool


class Found(BaseModel):
    found: list[Traveller]


class Ticket(BaseModel):
    delivery: str
    sent_to: str | None
    sent_at: str | None


class Leg(BaseModel):
    leg: str
    route: str
    sailing: str
    departs: str
    status: str
    vehicle: str | None


class Booking(BaseModel):
    booking: str
    fare: str
    payment: str
    pay_by: str | None
    ticket: Ticket
    legs: list[Leg]


class Bookings(BaseModel):
    traveller: str
    bookings: list[Booking]


class Proof(BaseModel):
    kind: str
    due: str
    result: str


class Card(BaseModel):
    pass_code: str
    status: str
    valid_until: str
    proof: Proof


class IslandPass(BaseModel):
    traveller: str
    card: Card | None


class Charge(BaseModel):
    charge: str
    booking: str
    amount: str
    state: str
    attempt: int
    made: str


class BankCard(BaseModel):
    last_four: str
    charges: list[Charge]


class Charges(BaseModel):
    traveller: str
    cards: list[BankCard]


class Find(BaseModel):
    kept_at: str
    kept_until: str


class Claim(BaseModel):
    claim: str
    item: str
    reported: str
    state: str
    find: Find | None


class Claims(BaseModel):
    traveller: str
    claims: list[Claim]


class Sailing(BaseModel):
    sailing: str
    departs: str
    vessel: str
    phase: str
    cause: str | None
    expected: str | None
    room: bool


class Board(BaseModel):
    route: str
    sailings: list[Sailing]


class TicketSent(BaseModel):
    booking: str
    sent_to: str


class LegMoved(BaseModel):
    leg: str
    sailing: str
    departs: str


class PassOn(BaseModel):
    pass_code: str
    status: str


class Refunded(BaseModel):
    charge: str
    amount: str


class World(BaseModel):
    travellers: list[Traveller]
    bookings: list[Bookings]
    passes: list[IslandPass]
    charges: list[Charges]
    claims: list[Claims]
    boards: list[Board]


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
def find_traveller(mail: str) -> Found:
    """Find the account of a traveller by e-mail address: traveller number, home port, islander or not."""
    note("find_traveller", {"mail": mail})
    return Found(found=[each for each in load().travellers if each.mail.casefold() == mail.strip().casefold()])


@server.tool()
def bookings_of(traveller: str) -> Bookings:
    """List the bookings of a traveller with legs, payment and delivery of the ticket (sent, bounced, not_made)."""
    note("bookings_of", {"traveller": traveller})
    known = [each for each in load().bookings if each.traveller == traveller]
    return known[0] if known else Bookings(traveller=traveller, bookings=[])


@server.tool()
def island_pass(traveller: str) -> IslandPass:
    """Show the Island Pass of a traveller: status (valid, suspended, expired), yearly proof (accepted, missing)."""
    note("island_pass", {"traveller": traveller})
    known = [each for each in load().passes if each.traveller == traveller]
    return known[0] if known else IslandPass(traveller=traveller, card=None)


@server.tool()
def charges_of(traveller: str) -> Charges:
    """List what was charged to the bank cards of a traveller: taken, reserved or refunded."""
    note("charges_of", {"traveller": traveller})
    known = [each for each in load().charges if each.traveller == traveller]
    return known[0] if known else Charges(traveller=traveller, cards=[])


@server.tool()
def claims_of(traveller: str) -> Claims:
    """List the things that a traveller reported as lost: searching, found, collected."""
    note("claims_of", {"traveller": traveller})
    known = [each for each in load().claims if each.traveller == traveller]
    return known[0] if known else Claims(traveller=traveller, claims=[])


@server.tool()
def sailing_board(route: str) -> Board:
    """Show the next sailings of a line (L1, L2, L3): on time, delayed or cancelled, and why."""
    note("sailing_board", {"route": route})
    for each in load().boards:
        if each.route == route:
            return each
    raise ValueError(f"unknown line {route}")


@server.tool()
def resend_ticket(booking: str) -> TicketSent:
    """Send the ticket of a paid booking again, to the e-mail address of the account."""
    note("resend_ticket", {"booking": booking}, write=True)
    world = load()
    for account in world.bookings:
        for each in account.bookings:
            if each.booking == booking and each.payment == "paid":
                mail = next(one.mail for one in world.travellers if one.traveller == account.traveller)
                each.ticket = Ticket(delivery="sent", sent_to=mail, sent_at=now().isoformat(timespec="minutes"))
                save(world)
                return TicketSent(booking=booking, sent_to=mail)
    raise ValueError(f"no paid booking {booking}")


@server.tool()
def rebook_leg(leg: str) -> LegMoved:
    """Move a leg whose sailing was cancelled by us to the next sailing of the same line with room. Free of charge."""
    note("rebook_leg", {"leg": leg}, write=True)
    world = load()
    for each in (leg for account in world.bookings for booking in account.bookings for leg in booking.legs):
        if each.leg == leg and each.status == "cancelled_by_us":
            sailings = next(board.sailings for board in world.boards if board.route == each.route)
            new = next(one for one in sailings if one.room and one.phase == "on_time")
            each.sailing, each.departs, each.status = new.sailing, new.departs, "confirmed"
            save(world)
            return LegMoved(leg=leg, sailing=new.sailing, departs=new.departs)
    raise ValueError(f"leg {leg} was not cancelled by us")


@server.tool()
def reactivate_pass(pass_code: str) -> PassOn:
    """Switch a suspended Island Pass on again."""
    note("reactivate_pass", {"pass_code": pass_code}, write=True)
    world = load()
    for each in world.passes:
        if each.card and each.card.pass_code == pass_code and each.card.status == "suspended":
            each.card.status = "valid"
            save(world)
            return PassOn(pass_code=pass_code, status="valid")
    raise ValueError(f"no suspended pass {pass_code}")


@server.tool()
def refund_charge(charge: str) -> Refunded:
    """Pay a charge back to the bank card it was taken from. Cannot be called back."""
    note("refund_charge", {"charge": charge}, write=True)
    world = load()
    for each in (charge for account in world.charges for card in account.cards for charge in card.charges):
        if each.charge == charge and each.state == "taken":
            each.state = "refunded"
            save(world)
            return Refunded(charge=charge, amount=each.amount)
    raise ValueError(f"charge {charge} was not taken")


if __name__ == "__main__":
    server.run()
