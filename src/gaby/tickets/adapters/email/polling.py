"""Which mails are new, and to which ticket each belongs."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from gaby.kernel.mail_addresses import canonical_address
from gaby.tickets.adapters.adapter import DeskRefused, RawTicket, TicketPage
from gaby.tickets.adapters.email.config import EmailConfig
from gaby.tickets.adapters.email.headers import is_own_id, thread_id
from gaby.tickets.adapters.email.mail_parser import MOST_BYTES, payload, summary
from gaby.tickets.adapters.email.mailbox import FetchedMail, Mailbox, MailboxStatus

_MOST_MAILS = 20
_WINDOW = 10_000
_MOST_WINDOWS = 50
_MOST_STEPS = 10
_MOST_ANSWERS = 5
_CURSOR = re.compile(r"(\d{1,10}):(\d{1,10}):(\d{1,12}):(\d{1,10})")
_ABOUT_ROOTS = ("id", "from", "to", "verified", "automatic")
# The mail server's clock dates the mails, ours the beginning.
_CLOCKS_DIFFER = timedelta(hours=1)


@dataclass(frozen=True)
class MailCursor:
    validity: int
    """Of the numbers: a server that numbers its mails anew says so with another one."""
    uid: int
    """The last mail that was read."""
    start: int
    """When Gaby began, in seconds of the epoch."""
    old_below: int
    """Mails below it were there before; of these only those since the start count. Later ones all do, however old:
    somebody moved them here."""

    def __str__(self) -> str:
        return f"{self.validity}:{self.uid}:{self.start}:{self.old_below}"

    @property
    def since(self) -> datetime:
        return datetime.fromtimestamp(self.start, UTC) - _CLOCKS_DIFFER


def parse(text: str) -> MailCursor:
    match = _CURSOR.fullmatch(text)
    if match is None:
        raise DeskRefused("This is no cursor of a mailbox.")
    return MailCursor(*(int(number) for number in match.groups()))


def position(cursor: MailCursor | None, state: MailboxStatus, since: datetime | None, now: datetime) -> MailCursor:
    """Where reading goes on."""
    if cursor is None and since is None:
        return MailCursor(state.validity, state.next_uid - 1, int(now.timestamp()), state.next_uid)
    if cursor is None or cursor.validity != state.validity:
        start = cursor.start if cursor else int((since or now).timestamp())
        return MailCursor(state.validity, 0, start, state.next_uid)
    return cursor


class MailPoll:
    def __init__(self, box: Mailbox, config: EmailConfig, has_time: Callable[[], bool]) -> None:
        self._box = box
        self._config = config
        self._has_time = has_time
        self._threads = MailThreads(box, config)

    def page(self, cursor: MailCursor, state: MailboxStatus) -> TicketPage:
        tickets: list[RawTicket] = []
        read = 0
        last = state.next_uid - 1
        for uid, is_mail in self._numbers(cursor, last):
            ticket = self._ticket(uid, cursor) if is_mail else None
            tickets.extend([ticket] if ticket else [])
            cursor = replace(cursor, uid=uid)
            read += is_mail
            # At least one mail is read each time, so that a slow server is read to the end as well.
            if read >= _MOST_MAILS or not self._has_time():
                break
        return TicketPage(tickets, str(cursor), more=cursor.uid < last)

    def _numbers(self, cursor: MailCursor, last: int) -> Iterator[tuple[int, bool]]:
        """Each mail's number, and where a stretch without further mails ends. In stretches, as the answer of a server
        about a mailbox of any size would be one line."""
        uid = cursor.uid
        for _ in range(_MOST_WINDOWS):
            if uid >= last:
                return
            upper = min(uid + _WINDOW, last)
            if uid + 1 < cursor.old_below:
                upper = min(upper, cursor.old_below - 1)
                # A day early: servers compare dates without the zone.
                uids = self._box.uids(uid + 1, upper, cursor.since.date() - timedelta(days=1))
            else:
                uids = self._box.uids(uid + 1, upper)
            yield from ((number, True) for number in uids)
            yield upper, False
            uid = upper

    def _ticket(self, uid: int, cursor: MailCursor) -> RawTicket | None:
        fetched = self._box.fetch(uid, MOST_BYTES)
        if fetched is None or (uid < cursor.old_below and _is_before(fetched, cursor.since)):
            return None
        mail = payload(fetched.mail, fetched.at, self._config, whole=fetched.size <= MOST_BYTES)
        if mail.get("own"):
            return None
        root = self._threads.root(mail)
        return RawTicket(str(root["id"]), {**mail, "root": root})


def _is_before(fetched: FetchedMail, since: datetime) -> bool:
    return fetched.at is not None and fetched.at < since


class MailThreads:
    """Follows a mail back to the one that began. Clients shorten the list of those before it, or give only the last."""

    def __init__(self, box: Mailbox, config: EmailConfig) -> None:
        self._box = box
        self._config = config
        self._known: dict[str, dict[str, Any] | None] = {}

    def root(self, mail: dict[str, Any]) -> dict[str, Any]:
        """What is known of it: at least its id."""
        current, seen = mail, {mail["id"]}
        for _ in range(_MOST_STEPS):
            before = [parent for parent in current["parents"] if parent not in seen]
            if not before:
                break
            known = self._look_up(before[0]) or self._answered(before[1:])
            if known is None:
                current = self._without_root(before[0], current)
                break
            seen.add(known["id"])
            current = known
        return {name: current[name] for name in _ABOUT_ROOTS if name in current}

    def _answered(self, parents: list[str]) -> dict[str, Any] | None:
        """The last answer of Gaby's among them. It knows its ticket when the mail that began has been moved away."""
        own = [parent for parent in parents if is_own_id(parent, self._config.domain)][-1:]
        return self._look_up(own[0]) if own else None

    def _without_root(self, message: str, current: dict[str, Any]) -> dict[str, Any]:
        """A thread whose first mail is not here belongs to whom Gaby answered in it, or else to this sender alone.
        Anybody can answer a newsletter, and nobody's ticket may be where the answers of all the others go."""
        if current.get("own"):
            return {**current, "id": message}
        return {**self._first_answer(message, current), "id": thread_id(message, *_owner(current))}

    def _first_answer(self, message: str, current: dict[str, Any]) -> dict[str, Any]:
        """The sender's first one, so that an absence note does not decide whether the sender is a program."""
        if current["from"] is None:
            return current
        for uid in self._box.answering(message, current["from"])[:_MOST_ANSWERS]:
            first = summary(self._box.head(uid), self._config)
            if not first["own"] and _owner(first) == _owner(current):
                return first
        return current

    def _look_up(self, message: str) -> dict[str, Any] | None:
        if message not in self._known:
            self._known[message] = self._search(message)
        return self._known[message]

    def _search(self, message: str) -> dict[str, Any] | None:
        elsewhere = self._config.copies != self._config.mailbox and is_own_id(message, self._config.domain)
        if elsewhere:
            self._box.examine(self._config.copies)
        uid = self._box.with_id(message)
        head = self._box.head(uid) if uid is not None else b""
        if elsewhere:
            self._box.examine(self._config.mailbox)
        return summary(head, self._config) if head else None


def _owner(mail: dict[str, Any]) -> tuple[str, ...]:
    """Who wrote it and who gets the answers. Where that cannot be told, the mail is alone."""
    sender, to = (canonical_address(mail[name] or "") for name in ("from", "to"))
    return (sender, to) if sender and to else (mail["id"],)
