"""Lines from a file nobody vouches for, with no line ever larger in memory than the limit."""

from collections.abc import Iterator
from typing import BinaryIO

import orjson

from gaby.audit.canonical import OPTIONS
from gaby.audit.errors import Malformed

MAX_LINE = 4_000_000


def read_lines(stream: BinaryIO, *, limit: int = MAX_LINE) -> Iterator[bytes]:
    """Each line with its line feed. A line beyond the limit comes as its beginning, without one."""
    while line := stream.readline(limit):
        yield line
        while len(line) == limit and not line.endswith(b"\n"):
            line = stream.readline(limit)
            if not line:
                return


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
