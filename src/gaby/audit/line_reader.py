"""Lines from a file nobody vouches for, with no line ever larger in memory than the limit."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

import orjson

from gaby.audit.canonical import OPTIONS
from gaby.audit.errors import Malformed

MAX_LINE = 4_000_000
_BLOCK = 1 << 18


def read_blocks(stream: BinaryIO, *, limit: int = MAX_LINE) -> Iterator[list[bytes]]:
    """Each line with its line feed, many at a time. A line beyond the limit comes as its beginning, without one."""
    rest = b""
    while block := stream.read(_BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        block_lines = [line + b"\n" if len(line) < limit else line[:limit] for line in lines]
        if len(rest) >= limit:
            block_lines.append(rest[:limit])
            rest = _after_line(stream)
        yield block_lines
    # What is left ends without a line feed, or stands behind a line that was too long.
    *lines, rest = rest.split(b"\n")
    yield [line + b"\n" for line in lines] + ([rest] if rest else [])


def read_lines(stream: BinaryIO, *, limit: int = MAX_LINE) -> Iterator[bytes]:
    return chain.from_iterable(read_blocks(stream, limit=limit))


def in_blocks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines from elsewhere than a file, a bounded number of bytes at a time."""
    block: list[bytes] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    yield block


def parse(data: bytes) -> object:
    """The value in canonical JSON. Another spelling is refused, so that not one bit of a file can change unnoticed."""
    try:
        value = orjson.loads(data)
        same = orjson.dumps(value, option=OPTIONS) == data
    except (orjson.JSONDecodeError, TypeError) as error:
        raise Malformed(f"This is not JSON: {error}.") from error
    if not same:
        raise Malformed("This is not in canonical form: a key twice, spaces, or a second spelling of a value.")
    return value


def _after_line(stream: BinaryIO) -> bytes:
    """Reads on to the end of the line; gives what was read behind it."""
    while block := stream.read(_BLOCK):
        _, newline, behind = block.partition(b"\n")
        if newline:
            return behind
    return b""
