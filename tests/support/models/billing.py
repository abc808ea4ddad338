"""What scripted vendors charge: tokens by a count of our own, and prefixes that were sent before for less."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock

_TOKEN = re.compile(r"\w+|[^\w\s]")
_LOOKS_BACK = 20
"""So many blocks before a breakpoint are searched for a prefix that is known."""


def count(text: str) -> int:
    return sum(1 for _ in _TOKEN.finditer(text))


def shortened(text: str, most: int) -> str:
    """As much of the text as so many tokens are."""
    ends = [found.end() for _, found in zip(range(most + 1), _TOKEN.finditer(text), strict=False)]
    return text if len(ends) <= most else text[: ends[most - 1] if most > 0 else 0]


@dataclass(frozen=True)
class Block:
    """A piece of a prompt. A breakpoint says that the prefix up to its end may be kept."""

    content: str
    breakpoint: bool = False


@dataclass(frozen=True)
class Bill:
    vendor: str
    model: str
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    told: bool = True
    """Whether the client could know of it. Who hangs up before the end may not."""


class Till:
    """Remembers prefixes and adds up bills. Used by the server's thread, read by the test's."""

    def __init__(self, smallest_kept: int) -> None:
        self._smallest = smallest_kept
        self._lock = Lock()
        self._known: set[str] = set()
        self._bills: list[Bill] = []

    @property
    def bills(self) -> list[Bill]:
        with self._lock:
            return list(self._bills)

    def prompt(self, vendor: str, model: str, blocks: Sequence[Block]) -> Bill:
        """What the prompt costs. From now on its prefixes are known."""
        sizes, marks = _prefixes(f"{vendor} {model}", blocks)
        places = [index for index, block in enumerate(blocks) if block.breakpoint and sizes[index] >= self._smallest]
        with self._lock:
            read = max((size for place in places if (size := self._cached_size(place, sizes, marks))), default=0)
            self._known.update(marks[place] for place in places)
        total = sizes[-1] if sizes else 0
        kept = sizes[places[-1]] if places else 0
        return Bill(vendor, model, input=total - max(kept, read), cache_read=read, cache_write=max(kept - read, 0))

    def _cached_size(self, place: int, sizes: Sequence[int], marks: Sequence[str]) -> int:
        earlier = range(place, max(place - _LOOKS_BACK, -1), -1)
        return next((sizes[index] for index in earlier if marks[index] in self._known), 0)

    def open(self, bill: Bill) -> int:
        with self._lock:
            self._bills.append(bill)
            return len(self._bills) - 1

    def change(self, number: int, *, output: int | None = None, told: bool = True) -> None:
        with self._lock:
            bill = self._bills[number]
            self._bills[number] = replace(bill, output=bill.output if output is None else output, told=told)


def _prefixes(owner: str, blocks: Sequence[Block]) -> tuple[list[int], list[str]]:
    """How long the prompt is after each block, and what it was until there."""
    size, digest = 0, sha256(owner.encode())
    sizes: list[int] = []
    marks: list[str] = []
    for block in blocks:
        size += count(block.content)
        digest.update(block.content.encode() + b"\0")
        sizes.append(size)
        marks.append(digest.hexdigest())
    return sizes, marks
