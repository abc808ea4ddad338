"""Quillgate Music School: families, lessons, hired instruments, invoices, practice cards and houses.

`world.json` is the seed. In it, {{-3h}} or {{+2d|%d %b %Y}} stands for a moment before or after the seeding.
MUSICSCHOOL_STATE names the file of the living world; it is made when it is not there. Beside it, <file>.calls.jsonl
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
STATE = Path(os.environ.get("MUSICSCHOOL_STATE") or Path(tempfile.gettempdir()) / "musicschool-state.json")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}
MOMENT = re.compile(r"\{\{([+-]\d+)([mhd])(?:\|([^}]+))?\}\}")

server = MCPServer("quillgate-music-school")


def now() -> datetime:
    """MUSICSCHOOL_NOW holds the time still, so that a recording can be played again."""
    told = os.environ.get("MUSICSCHOOL_NOW")
    return datetime.fromisoformat(told) if told else datetime.now(UTC)


class Pupil(BaseModel):
    pupil: str
    first_name: str
    born: int


class Family(BaseModel):
    family: str
    name: str
    contact: str
    pupils: list[Pupil]


class Matches(BaseModel):
    matches: list[Family]


class Lesson(BaseModel):
    lesson: str
    at: str
    site: str
    state: str
    called_off_by: str | None
    notice_hours: int | None
    credit: str | None


class Enrolment(BaseModel):
    enrolment: str
    pupil: str
    course: str
    teacher: str
    lessons: list[Lesson]


class Lessons(BaseModel):
    family: str
    enrolments: list[Enrolment]


class Instrument(BaseModel):
    kind: str
    size: str | None
    serial: str


class Hire(BaseModel):
    hire: str
    instrument: Instrument
    return_by: str
    renewal: str
    others_waiting: int


class Hires(BaseModel):
    family: str
    hires: list[Hire]


class Payment(BaseModel):
    payment: str
    amount: str
    how: str


class Invoice(BaseModel):
    invoice: str
    term: str
    total: str
    due: str
    paid_on: str | None
    paid_in_time: bool | None
    reminder: str
    late_fee: str | None
    payments: list[Payment]


class Account(BaseModel):
    family: str
    invoices: list[Invoice]


class Holder(BaseModel):
    pupil: str
    first_name: str


class Card(BaseModel):
    card: str
    holder: Holder
    status: str
    locked_because: str | None
    locked_until: str | None


class Cards(BaseModel):
    family: str
    cards: list[Card]


class House(BaseModel):
    house_name: str
    phase: str
    reason: str | None
    closed_until: str | None
    moved_to: str | None


class HouseStatus(BaseModel):
    site: str
    house: House


class CardUnlocked(BaseModel):
    card: str
    status: str


class MakeupIssued(BaseModel):
    lesson: str
    credit: str


class HireExtended(BaseModel):
    hire: str
    return_by: str


class FeeWaived(BaseModel):
    invoice: str
    amount: str


class World(BaseModel):
    next_credit: int
    families: list[Family]
    lessons: list[Lessons]
    hires: list[Hires]
    accounts: list[Account]
    cards: list[Cards]
    houses: list[HouseStatus]


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
def find_family(contact: str) -> Matches:
    """Find a family, or an adult pupil, by the e-mail address of the registered contact."""
    note("find_family", {"contact": contact})
    asked = contact.strip().casefold()
    return Matches(matches=[each for each in load().families if each.contact.casefold() == asked])


@server.tool()
def lessons_of(family: str) -> Lessons:
    """List the courses of a family and their lessons (given, planned, off_by_school, off_by_family) with credits."""
    note("lessons_of", {"family": family})
    known = [each for each in load().lessons if each.family == family]
    return known[0] if known else Lessons(family=family, enrolments=[])


@server.tool()
def hires_of(family: str) -> Hires:
    """List the instruments that a family has on hire, until when, and whether a renewal was requested."""
    note("hires_of", {"family": family})
    known = [each for each in load().hires if each.family == family]
    return known[0] if known else Hires(family=family, hires=[])


@server.tool()
def account_of(family: str) -> Account:
    """List the invoices of a family with due date, payments, reminders and late fees."""
    note("account_of", {"family": family})
    known = [each for each in load().accounts if each.family == family]
    return known[0] if known else Account(family=family, invoices=[])


@server.tool()
def cards_of(family: str) -> Cards:
    """List the practice cards of a family: active or locked, why and until when."""
    note("cards_of", {"family": family})
    known = [each for each in load().cards if each.family == family]
    return known[0] if known else Cards(family=family, cards=[])


@server.tool()
def house_status(site: str) -> HouseStatus:
    """Show whether a house of the school (QH, ML, TN) is open, and where lessons are held if it is not."""
    note("house_status", {"site": site})
    for each in load().houses:
        if each.site == site:
            return each
    raise ValueError(f"unknown house {site}")


@server.tool()
def unlock_card(card: str) -> CardUnlocked:
    """Take the lock off a practice card."""
    note("unlock_card", {"card": card}, write=True)
    world = load()
    for each in (card for family in world.cards for card in family.cards):
        if each.card == card and each.status == "locked":
            each.status, each.locked_because, each.locked_until = "active", None, None
            save(world)
            return CardUnlocked(card=card, status="active")
    raise ValueError(f"no locked card {card}")


@server.tool()
def issue_makeup(lesson: str) -> MakeupIssued:
    """Book a make-up credit for a lesson that the school has called off."""
    note("issue_makeup", {"lesson": lesson}, write=True)
    world = load()
    courses = (course for family in world.lessons for course in family.enrolments)
    for each in (lesson for course in courses for lesson in course.lessons):
        if each.lesson == lesson and each.state == "off_by_school" and each.credit is None:
            each.credit = f"MU{world.next_credit}"
            world.next_credit += 1
            save(world)
            return MakeupIssued(lesson=lesson, credit=each.credit)
    raise ValueError(f"lesson {lesson} is not one for which a credit is missing")


@server.tool()
def extend_hire(hire: str) -> HireExtended:
    """Extend the hire of an instrument by twelve months."""
    note("extend_hire", {"hire": hire}, write=True)
    world = load()
    for each in (hire for family in world.hires for hire in family.hires):
        if each.hire == hire and each.renewal == "requested":
            each.renewal = "granted"
            each.return_by = (now() + timedelta(days=365)).strftime("%d %b %Y")
            save(world)
            return HireExtended(hire=hire, return_by=each.return_by)
    raise ValueError(f"no renewal was requested for {hire}")


@server.tool()
def waive_fee(invoice: str) -> FeeWaived:
    """Take the late fee off an invoice and call the reminder back."""
    note("waive_fee", {"invoice": invoice}, write=True)
    world = load()
    for each in (invoice for account in world.accounts for invoice in account.invoices):
        if each.invoice == invoice and each.late_fee is not None:
            amount, each.late_fee, each.reminder = each.late_fee, None, "called_back"
            save(world)
            return FeeWaived(invoice=invoice, amount=amount)
    raise ValueError(f"invoice {invoice} has no late fee")


if __name__ == "__main__":
    server.run()
