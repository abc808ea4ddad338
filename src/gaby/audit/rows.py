"""An audit row: what happened, chained by hash to the row before it in its workspace."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, cast, get_args
from uuid import UUID

import orjson

from gaby.audit.canonical import OPTIONS
from gaby.audit.errors import Malformed, NotCanonical
from gaby.audit.fences import Fence
from gaby.audit.line_reader import parse
from gaby.kernel.actors import ActorKind
from gaby.kernel.ids import AuditRowId, WorkspaceId

FIRST_PREV_HASH = bytes(32)
FIELDS = ["actor_id", "actor_kind", "event", "id", "payload", "prev_hash", "seq", "ts", "workspace_id"]
ACTOR_KINDS = frozenset(get_args(ActorKind))
MAX_SEQ = 2**62

_EVENT = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class RowDraft(NamedTuple):
    """A row before it has its place in the log. The payload is canonical JSON text."""

    workspace_id: WorkspaceId
    actor_kind: ActorKind
    actor_id: str
    event: str
    payload: str
    opens: bool = False
    """Whether the row states an intent, whose outcome is to follow."""
    closes: AuditRowId | None = None
    """The intent whose outcome the row states."""
    fence: Fence | None = None
    """What must still hold for the row to be written."""


class AuditRow(NamedTuple):
    """Ids are kept as the 32 digits that databases take, because making UUIDs of them costs more than hashing does."""

    workspace: str
    seq: int
    """The place in the workspace's log, from 0; also the leaf's index in its tree."""
    digits: str
    ts: str
    actor_kind: str
    actor_id: str
    event: str
    payload: str
    prev_hash: bytes
    hash: bytes

    @property
    def workspace_id(self) -> WorkspaceId:
        return WorkspaceId(UUID(self.workspace))

    @property
    def id(self) -> AuditRowId:
        return AuditRowId(UUID(self.digits))

    def canonical(self) -> bytes:
        """The row as canonical JSON, without its hash. The payload is spliced in, because it already is canonical."""
        return (
            f'{{"actor_id":{_quoted(self.actor_id)},"actor_kind":{_quoted(self.actor_kind)},'
            f'"event":{_quoted(self.event)},"id":"{_dashed(self.digits)}","payload":{self.payload},'
            f'"prev_hash":"{self.prev_hash.hex()}","seq":{self.seq},"ts":"{self.ts}",'
            f'"workspace_id":"{_dashed_workspace(self.workspace)}"}}'
        ).encode()


class LogHead:
    """Where the next row of a workspace goes."""

    __slots__ = ("hash", "seq", "ts")

    def __init__(self, seq: int = 0, digest: bytes = FIRST_PREV_HASH, ts: str = "") -> None:
        self.seq = seq
        self.hash = digest
        self.ts = ts


def chain(
    drafts: Iterable[RowDraft], heads: Mapping[WorkspaceId, LogHead], *, now: str, first_id: UUID
) -> list[AuditRow]:
    """Give drafts their places in their logs, and move the heads on.

    Every effect waits for this, so it is written for speed: the same text as `AuditRow.canonical`, and ids by steps of
    one from a single draw, which stay unique and in order.
    """
    rows: list[AuditRow] = []
    number = first_id.int
    for workspace_id, kind, actor, event, payload, *_ in drafts:
        head = heads[workspace_id]
        seq, prev_hash = head.seq, head.hash
        # The clock may be set back; the log's time never goes back.
        head.ts = max(head.ts, now)
        digits = f"{number:032x}"
        workspace, workspace_text = _texts(workspace_id)
        text = (
            f'{{"actor_id":{_quoted(actor)},"actor_kind":"{kind}","event":"{event}","id":"{digits[:8]}-{digits[8:12]}'
            f'-{digits[12:16]}-{digits[16:20]}-{digits[20:]}","payload":{payload},"prev_hash":"{prev_hash.hex()}",'
            f'"seq":{seq},"ts":"{head.ts}","workspace_id":"{workspace_text}"}}'
        )
        head.hash = digest = sha256(prev_hash + text.encode()).digest()
        head.seq = seq + 1
        rows.append(AuditRow(workspace, seq, digits, head.ts, kind, actor, event, payload, prev_hash, digest))
        number += 1
    return rows


def row_hash(prev_hash: bytes, canonical_row: bytes) -> bytes:
    return sha256(prev_hash + canonical_row).digest()


def check_draft(draft: RowDraft) -> RowDraft:
    """Refuse names that could not be told apart, or not be stored, later."""
    if not is_event_name(draft.event):
        raise NotCanonical(f"An event's name is lower-case words joined by dots, up to 100 long, not {draft.event!r}.")
    if not draft.actor_id or len(draft.actor_id) > 200 or _CONTROL.search(draft.actor_id):
        raise NotCanonical("An actor's id is 1 to 200 characters of text without control characters.")
    if draft.actor_kind not in ACTOR_KINDS:
        raise NotCanonical(f"An actor is a user, a key, the agent or the system, not {draft.actor_kind!r}.")
    return draft


@lru_cache(maxsize=4096)
def is_event_name(text: str) -> bool:
    return len(text) <= 100 and _EVENT.fullmatch(text) is not None


def timestamp(moment: datetime) -> str:
    """Always UTC, always six digits, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def earlier(text: str, by: timedelta) -> str:
    """A timestamp so long before another. The beginning of time stays as it is."""
    try:
        return timestamp(datetime.fromisoformat(text) - by)
    except OverflowError:
        return text


def is_timestamp(text: object) -> bool:
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def read_row(data: bytes) -> dict[str, Any]:
    """The fields of a row from bytes nobody vouches for: exactly the canonical form, or `Malformed`."""
    row = parse(data)
    if not isinstance(row, dict) or list(cast("dict[str, Any]", row)) != FIELDS:
        raise Malformed(f"A row has exactly the fields {', '.join(FIELDS)}.")
    fields = cast("dict[str, Any]", row)
    try:
        good = is_well_formed(fields)
    except TypeError:
        good = False
    if not good or not _UUID.fullmatch(fields["workspace_id"]) or not _HASH.fullmatch(fields["prev_hash"]):
        raise Malformed("One of the row's fields is not in its proper form.")
    return fields


def is_well_formed(fields: dict[str, Any]) -> bool:
    """Whether each field by itself is what Gaby writes. May raise `TypeError` instead of saying no."""
    return (
        type(fields["seq"]) is int
        and 0 <= fields["seq"] < MAX_SEQ
        and isinstance(fields["payload"], dict)
        and isinstance(fields["actor_id"], str)
        and isinstance(fields["workspace_id"], str)
        and isinstance(fields["prev_hash"], str)
        and fields["actor_kind"] in ACTOR_KINDS
        and is_event_name(fields["event"])
        and _UUID.fullmatch(fields["id"]) is not None
        and is_timestamp(fields["ts"])
    )


def row_from(fields: dict[str, Any], digest: bytes) -> AuditRow:
    """The row that `read_row` gave the fields of."""
    return AuditRow(
        workspace=fields["workspace_id"].replace("-", ""),
        seq=fields["seq"],
        digits=fields["id"].replace("-", ""),
        ts=fields["ts"],
        actor_kind=fields["actor_kind"],
        actor_id=fields["actor_id"],
        event=fields["event"],
        payload=orjson.dumps(fields["payload"], option=OPTIONS).decode(),
        prev_hash=bytes.fromhex(fields["prev_hash"]),
        hash=digest,
    )


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


@lru_cache(maxsize=1024)
def _texts(workspace_id: WorkspaceId) -> tuple[str, str]:
    return workspace_id.hex, str(workspace_id)


@lru_cache(maxsize=1024)
def _dashed_workspace(digits: str) -> str:
    return _dashed(digits)


def _dashed(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
