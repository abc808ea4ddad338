"""Kessel & Rook Castings, Works North: the systems behind the site desk (staff, trucks, lockers, pay, PPE, heating).

The living world is the file that FOUNDRY_STATE names, seeded from `world.json` when it is missing; "now-3d" and
"now+2h as %H:%M" in the seed become moments. Each call leaves a line in <that file>.calls.jsonl.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from mcp.server.mcpserver import MCPServer
from pydantic import TypeAdapter

STATE = Path(os.environ.get("FOUNDRY_STATE") or Path(tempfile.gettempdir()) / "foundry-state.json")
T = TypeVar("T")
desk = MCPServer("kesselrook-desk")


def now() -> datetime:
    """FOUNDRY_NOW holds the time still, so that a recording can be played again."""
    told = os.environ.get("FOUNDRY_NOW")
    return datetime.fromisoformat(told) if told else datetime.now(UTC)


@dataclass
class Who:
    first: str
    last: str


@dataclass
class Place:
    hall: str
    shift: str


@dataclass
class StaffMember:
    staff_no: int
    who: Who
    mail: str
    works_in: Place
    employed_by: str


@dataclass
class StaffHits:
    count: int
    hits: list[StaffMember]


@dataclass
class Reader:
    truck: str
    reader_state: str


@dataclass
class Permit:
    permit_no: str
    truck_class: str
    valid_to: str
    readers: list[Reader]


@dataclass
class Permits:
    staff_no: int
    permits: list[Permit]


@dataclass
class Lock:
    lock_mode: str
    wrong_pins: int
    battery_percent: int


@dataclass
class Locker:
    locker_no: str
    lock: Lock


@dataclass
class Lockers:
    staff_no: int
    locker: Locker | None


@dataclass
class Delivery:
    channel: str
    outcome: str
    tried_at: str


@dataclass
class Slip:
    slip_no: int
    period: str
    net_cents: int
    delivery: Delivery


@dataclass
class Payslips:
    staff_no: int
    slips: list[Slip]


@dataclass
class Allowance:
    allowance_ref: str
    item: str
    value_cents: int
    last_issued: str
    due: bool
    open_voucher: bool
    vouchers: list[str]


@dataclass
class PpeAccount:
    staff_no: int
    allowances: list[Allowance]


@dataclass
class Heater:
    unit: str
    hall: str
    fault: str | None
    resets_today: int
    air_celsius: float


@dataclass
class Heaters:
    heaters: list[Heater]


@dataclass
class Day:
    day_key: str
    date: str
    punches: list[str]
    remark: str


@dataclass
class Week:
    week: str
    days: list[Day]


@dataclass
class TimeAccount:
    staff_no: int
    balance_minutes: int
    completed_this_month: int
    weeks: list[Week]


@dataclass
class Outcome:
    result: str


@dataclass
class World:
    staff: list[StaffMember]
    permits: list[Permits]
    lockers: list[Lockers]
    payslips: list[Payslips]
    ppe: list[PpeAccount]
    heaters: list[Heater]
    times: list[TimeAccount]


SHAPE = TypeAdapter(World)


def dated(found: re.Match[str]) -> str:
    hours = int(found[1]) * (24 if found[2] == "d" else 1)
    when = now() + timedelta(hours=hours)
    return json.dumps(when.strftime(found[3]) if found[3] else when.date().isoformat())


def load() -> World:
    if STATE.exists():
        return SHAPE.validate_json(STATE.read_bytes())
    seed = Path(__file__).with_name("world.json").read_text("utf-8")
    world = SHAPE.validate_json(re.sub(r'"now([+-]\d+)([hd])(?: as ([^"]+))?"', dated, seed))
    save(world)
    return world


def save(world: World) -> None:
    STATE.parent.mkdir(parents=True, exist_ok=True)
    STATE.write_bytes(SHAPE.dump_json(world, indent=1))


def record(tool: str, *, write: bool, **args: str | int) -> None:
    with Path(f"{STATE}.calls.jsonl").open("a", encoding="utf-8") as journal:
        print(json.dumps({"tool": tool, "write": write, "args": args}), file=journal)


def one(found: Iterable[T], what: str) -> T:
    for each in found:
        return each
    raise ValueError(f"no such {what}")


@desk.tool()
def search_staff(mail: str) -> StaffHits:
    """Find a member of staff by e-mail address: staff number, hall, shift and employer."""
    record("search_staff", write=False, mail=mail)
    hits = [each for each in load().staff if each.mail.lower() == mail.strip().lower()]
    return StaffHits(len(hits), hits)


@desk.tool()
def truck_permits(staff_no: int) -> Permits:
    """Show a driver's truck permits, until when they are valid, and whether the trucks' readers know them."""
    record("truck_permits", write=False, staff_no=staff_no)
    return next((each for each in load().permits if each.staff_no == staff_no), Permits(staff_no, []))


@desk.tool()
def locker_of(staff_no: int) -> Lockers:
    """Show the locker of a member of staff: mode of its lock, wrong PINs and battery."""
    record("locker_of", write=False, staff_no=staff_no)
    return next((each for each in load().lockers if each.staff_no == staff_no), Lockers(staff_no, None))


@desk.tool()
def payslips_of(staff_no: int) -> Payslips:
    """List the latest payslips of a member of staff, net pay in cents, and how their delivery ended."""
    record("payslips_of", write=False, staff_no=staff_no)
    return next((each for each in load().payslips if each.staff_no == staff_no), Payslips(staff_no, []))


@desk.tool()
def ppe_account(staff_no: int) -> PpeAccount:
    """List the PPE allowances of a member of staff: item, value in cents, last issue, whether due, open vouchers."""
    record("ppe_account", write=False, staff_no=staff_no)
    return next((each for each in load().ppe if each.staff_no == staff_no), PpeAccount(staff_no, []))


@desk.tool()
def hall_heaters(hall: str) -> Heaters:
    """List the heaters of a hall with fault code, resets of today and air temperature."""
    record("hall_heaters", write=False, hall=hall)
    return Heaters([each for each in load().heaters if each.hall.lower() == hall.lower()])


@desk.tool()
def time_account(staff_no: int) -> TimeAccount:
    """Show the time account of a member of staff by weeks and days, with missing clockings."""
    record("time_account", write=False, staff_no=staff_no)
    return next((each for each in load().times if each.staff_no == staff_no), TimeAccount(staff_no, 0, 0, []))


@desk.tool()
def push_permit(permit_no: str) -> Outcome:
    """Send a valid permit to the readers of all trucks."""
    record("push_permit", write=True, permit_no=permit_no)
    world = load()
    permit = one((each for row in world.permits for each in row.permits if each.permit_no == permit_no), "permit")
    for reader in permit.readers:
        reader.reader_state = "current"
    save(world)
    return Outcome(f"sent to {len(permit.readers)} trucks")


@desk.tool()
def reset_locker(locker_no: str) -> Outcome:
    """Reset the lock of a locker. The PIN becomes the last four figures of the owner's staff number."""
    record("reset_locker", write=True, locker_no=locker_no)
    world = load()
    lockers = [row.locker for row in world.lockers if row.locker]
    locker = one((each for each in lockers if each.locker_no == locker_no), "locker")
    locker.lock.lock_mode, locker.lock.wrong_pins = "normal", 0
    save(world)
    return Outcome("reset")


@desk.tool()
def redeliver_slip(slip_no: int) -> Outcome:
    """Deliver a payslip to its owner's portal mailbox again."""
    record("redeliver_slip", write=True, slip_no=slip_no)
    world = load()
    slip = one((each for row in world.payslips for each in row.slips if each.slip_no == slip_no), "payslip")
    slip.delivery.outcome = "delivered"
    save(world)
    return Outcome("delivered")


@desk.tool()
def issue_voucher(allowance_ref: str) -> Outcome:
    """Issue a PPE voucher for an allowance. It can be spent at once."""
    record("issue_voucher", write=True, allowance_ref=allowance_ref)
    world = load()
    rows = (each for row in world.ppe for each in row.allowances)
    allowance = one((each for each in rows if each.allowance_ref == allowance_ref), "allowance")
    allowance.vouchers.append(f"{allowance_ref}-{len(allowance.vouchers) + 1}")
    allowance.due, allowance.open_voucher = False, True
    allowance.last_issued = now().strftime("%d.%m.%Y")
    save(world)
    return Outcome(f"voucher {allowance.vouchers[-1]}")


@desk.tool()
def reset_heater(unit: str) -> Outcome:
    """Start a heater again that has locked itself."""
    record("reset_heater", write=True, unit=unit)
    world = load()
    heater = one((each for each in world.heaters if each.unit == unit), "heater")
    heater.fault, heater.resets_today = None, heater.resets_today + 1
    save(world)
    return Outcome("start-up has begun")


@desk.tool()
def complete_day(day_key: str) -> Outcome:
    """Complete a day without a clocking-out with the planned end of the shift."""
    record("complete_day", write=True, day_key=day_key)
    world = load()
    for account in world.times:
        for day in (each for week in account.weeks for each in week.days):
            if day.day_key == day_key:
                day.punches.append("14:00")
                day.remark = "completed by the desk"
                account.completed_this_month += 1
                save(world)
                return Outcome("completed")
    raise ValueError("no such day")


if __name__ == "__main__":
    desk.run()
