"""Pinned keys: what a verifier remembers of the keys that sign, outside the database.

The first key that was trusted, and every change from one key to the next that both keys signed. A log that is signed
anew by another key, whole and consistent in itself, is told by this file and by nothing else on the machine.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from gaby.audit.canonical import canonical
from gaby.audit.errors import Malformed
from gaby.audit.line_reader import parse
from gaby.audit.signing_key import sync_folder
from gaby.audit.statements import KeyEntry, understand
from gaby.audit.trust import TrustedKeys
from gaby.kernel.errors import BadRequest

_LONGEST_FILE = 16_000_000


class KeyPins(BaseModel, frozen=True, extra="forbid", strict=True):
    format: Literal["gaby audit keys v1"] = "gaby audit keys v1"
    keys: Annotated[list[KeyEntry], Field(min_length=1, max_length=10_000)]

    def problem(self, entries: Sequence[KeyEntry]) -> str | None:
        """What is wrong with the keys of a log, in the order they served."""
        for pinned, entry in zip(self.keys, entries, strict=False):
            if pinned.public_key != entry.public_key:
                return (
                    f"The log is signed by key {entry.key_id} where {pinned.key_id} is pinned: it was signed anew, or "
                    "it is the log of another installation. Keep everything as it is, and find out who had the key."
                )
        if len(entries) < len(self.keys):
            return (
                f"The log does not know key {self.keys[len(entries)].key_id}, which is pinned: an old backup stands in "
                "its place, or a retired key was used to write another log."
            )
        return None


def read_pins(path: Path) -> KeyPins:
    """For somebody who was given the file."""
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST_FILE)
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error.strerror}.") from error
    return understand(KeyPins, parse(data.removesuffix(b"\n")))


def pins_text(pins: KeyPins) -> bytes:
    return canonical(pins.model_dump(mode="json")) + b"\n"


class PinFile:
    """The pins that belong to a file of anchors, beside it."""

    def __init__(self, anchors: Path) -> None:
        self._anchors = anchors
        self.path = anchors.with_name(f"{anchors.stem}.keys.json")

    def load(self) -> KeyPins | None:
        return read_pins(self.path) if self.path.exists() else None

    def follow(self, entries: Sequence[KeyEntry]) -> None:
        """Pin the keys of a log that is only beginning, or those that took over since; never replace a pinned one.

        Where there are anchors there were pins, so that a file which is missing then is left for `gaby audit verify`
        to find, and for a person to restore with `gaby audit trust`.
        """
        try:
            pins = self.load()
        except Malformed:
            return
        if not entries or TrustedKeys(entries).problems:
            return
        if pins is None:
            if not self._anchors.exists():
                self.save(entries)
        elif len(entries) > len(pins.keys) and pins.problem(entries) is None:
            self.save(entries)

    def save(self, entries: Sequence[KeyEntry]) -> None:
        """Replaced whole, so that a crash leaves the old or the new one."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_name(self.path.name + ".tmp")
        with draft.open("wb") as file:
            file.write(pins_text(KeyPins(keys=list(entries))))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
        sync_folder(self.path.parent)
