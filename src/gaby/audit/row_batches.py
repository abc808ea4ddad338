"""Checks a run of rows in one go. It only ever says yes; when it cannot, the rows are looked at one by one."""

import re
from binascii import hexlify
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from secrets import token_hex

import orjson

from gaby.audit.canonical import OPTIONS
from gaby.audit.rows import is_timestamp

# Narrower than what rows may be: an actor's name with escapes or accents simply takes the slow way. Only the payload
# is picked out; what is compared with a known value needs no form here, and stands at a known distance from the ends.
_ROW = re.compile(
    rb'^\{"hash":".{64}","row":\{"actor_id":"[ !#-\[\]-~]+","actor_kind":"(?:agent|key|system|user)",'
    rb'"event":"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*","id":"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",'
    rb'"payload":(\{.*\}),"prev_hash":".{64}","seq":[0-9]+,'
    rb'"ts":"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z","workspace_id":".{36}"\}\}\n',
    re.MULTILINE,
)
_HASH, _RAW = slice(9, 73), slice(81, -2)
_WORKSPACE, _TIME = slice(-40, -4), slice(-85, -58)
_SEQ_END, _PREV_TO_SEQ = -92, 8

# Between payloads stands what no forger can know, so that no payload lends a bracket to its neighbour.
_SECRET = token_hex(8)
_FENCE = f',"{_SECRET}",'.encode()


def good_run(
    lines: Sequence[bytes], *, workspace: bytes, seq: int, last: bytes, last_ts: bytes
) -> tuple[list[bytes], bytes, bytes] | None:
    """The rows' hashes, and the times of the first and the last, when every row is the next good one; else nothing."""
    count = len(lines)
    digits = len(str(seq))
    payloads = _ROW.findall(b"".join(lines))
    if len(payloads) != count or len(str(seq + count - 1)) != digits:
        return None
    digests: list[bytes] = []
    before = last
    for line in lines:
        before = sha256(before + line[_RAW]).digest()
        digests.append(before)
    seqs = slice(_SEQ_END - digits, _SEQ_END)
    prevs = slice(seqs.start - _PREV_TO_SEQ - 64, seqs.start - _PREV_TO_SEQ)
    hashes = hexlify(b"".join(digests))
    times = [line[_TIME] for line in lines]
    good = (
        b"".join([line[_HASH] for line in lines]) == hashes
        and b"".join([line[prevs] for line in lines]) == hexlify(last) + hashes[:-64]
        and b"".join([line[seqs] for line in lines]) == "".join(map(str, range(seq, seq + count))).encode()
        and {line[_WORKSPACE] for line in lines} == {workspace}
        and times == sorted([last_ts, *times])[1:]
        and _are_days(times)
        and _are_canonical(payloads)
    )
    return (digests, times[0], times[-1]) if good else None


def time_of(line: bytes) -> str:
    """The date in the line of a row that was found good."""
    return line[_TIME].decode()


def _are_canonical(payloads: Sequence[bytes]) -> bool:
    joined = b"[%b]" % _FENCE.join(payloads)
    try:
        parsed = orjson.loads(joined)
        fences = parsed[1::2]
        return fences == [_SECRET] * (len(payloads) - 1) and orjson.dumps(parsed, option=OPTIONS) == joined
    except (orjson.JSONDecodeError, TypeError):
        return False


def _are_days(times: Sequence[bytes]) -> bool:
    """Whether the dates exist, of times that are in order."""
    first, last = times[0][:10], times[-1][:10]
    days = {first} if first == last else {moment[:10] for moment in times}
    return all(map(_is_day, days))


@lru_cache(maxsize=1024)
def _is_day(day: bytes) -> bool:
    return is_timestamp(f"{day.decode()}T00:00:00.000000Z")
