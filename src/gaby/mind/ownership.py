"""Whose a record is: the requester's own, of the requester's account, nobody's in particular, or somebody else's.

Only an address that is equal to the requester's makes a record the requester's. From there ids lead on: the account
that a user belongs to, and whatever a tool gives when it is asked for that account.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, cast

from gaby.mind.records import Record, View
from gaby.mind.words import stem, stems, words

Whose = Literal["own", "account", "anyone", "other"]

_ADDRESS = re.compile(r"[^@\s]{1,100}@[^@\s]{1,150}\.[^@\s]{1,50}")
_IDS = re.compile(r"(?:.*_)?(?:id|uuid|guid|key|number)")
_PERSONAL = ("email", "mail", "email_address", "username", "login")
_LETTERS = stems("ticket case issue message mail email conversation comment note thread letter chat")
_OWNERS = stems("email mail user username login owner requester upn principal contact customer member uid")
_ROUNDS = 3


class Ownership:
    def __init__(self, view: View, requester: str | None) -> None:
        self._view = view
        self._address = (requester or "").strip().lower()
        self._ids: set[str] = set()
        # Ids that answers gave without being asked for anybody, such as those of incidents.
        self._shared = {
            each for record in view.records if not _values(record.call.arguments) for each in _ids_of(record)
        }
        self._known: dict[int, Whose] = {}
        for _ in range(_ROUNDS):
            before = len(self._ids)
            self._known = {id(record): self._find(record) for record in view.records}
            for record in view.records:
                if self.whose(record) in {"own", "account"} and not _is_a_letter(record):
                    self._ids |= _ids_of(record)
            if len(self._ids) == before:
                break

    def whose(self, record: Record) -> Whose:
        return self._known.get(id(record)) or self._find(record)

    def _find(self, record: Record) -> Whose:
        """In this order: an account's invoice names its owner and is the requester's all the same."""
        addresses = {name: value.lower() for name, value in _texts(record.fields) if _ADDRESS.fullmatch(value)}
        if self._address and any(self._address == value for name, value in addresses.items() if _names_owner(name)):
            return "own"
        if self._belongs(record):
            return "account"
        return "other" if addresses or self._is_personal(record) else "anyone"

    @cached_property
    def is_known(self) -> bool:
        """Somebody with the requester's address was found. What the requester wrote is no proof of that."""
        return any(self.whose(record) == "own" and not _is_a_letter(record) for record in self._view.records)

    @cached_property
    def was_looked_up(self) -> bool:
        """A tool was asked for the requester's address, and answered."""
        return bool(self._address) and any(
            self._address in value.lower() for call in self._view.calls for value in _values(call.arguments)
        )

    @property
    def is_stranger(self) -> bool:
        return self.was_looked_up and not self.is_known

    def _belongs(self, record: Record) -> bool:
        if any(value in self._ids for value in _values(record.call.arguments)):
            return True
        return any(
            isinstance(value, str) and value in self._ids for name, value in record.fields.items() if _is_id(name)
        ) and not _is_a_person(record)

    def _is_personal(self, record: Record) -> bool:
        """The call was made for an id that leads to nobody whom the requester may speak for."""
        return any(_looks_like_id(value) and value not in self._shared for value in _values(record.call.arguments))


def _ids_of(record: Record) -> set[str]:
    return {value for name, value in record.fields.items() if isinstance(value, str) and value and _is_id(name)}


def _is_a_person(record: Record) -> bool:
    """A colleague has the same account and is somebody else."""
    return any(isinstance(record.get(name), str) for name in _PERSONAL)


def _is_a_letter(record: Record) -> bool:
    """Anybody can write one, with any address."""
    return any(not _LETTERS.isdisjoint(stem(word) for word in words(key)) for key in record.path)


def _is_id(name: str) -> bool:
    return _IDS.fullmatch(name) is not None


def _looks_like_id(value: str) -> bool:
    return any(map(str.isdigit, value)) and " " not in value


def _names_owner(name: str) -> bool:
    """Whoever may call a thing what they like could call it by somebody's address."""
    return not _OWNERS.isdisjoint(stem(word) for word in words(name))


def _texts(fields: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in fields.items() if isinstance(value, str)]


def _values(arguments: object) -> list[str]:
    if isinstance(arguments, Mapping):
        return [each for inner in cast("Mapping[str, object]", arguments).values() for each in _values(inner)]
    if isinstance(arguments, list | tuple):
        return [each for inner in cast("list[object]", arguments) for each in _values(inner)]
    return [arguments] if isinstance(arguments, str) and arguments else []
