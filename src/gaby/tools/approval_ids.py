"""Short ids of approvals: so much of the beginning of an id that no other approval of the workspace has it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from uuid import UUID

from sqlalchemy import select

from gaby.kernel.database import ReadSession
from gaby.kernel.errors import BadRequest, NotFound
from gaby.kernel.ids import ApprovalId
from gaby.tools.errors import ApprovalIdAmbiguous
from gaby.tools.models import Approval

SHORTEST = 8
"""So many characters at least: ids begin with the time, and fewer are soon another approval's too."""
_DIGITS = frozenset("0123456789abcdef")


async def find_approval(session: ReadSession, beginning: str) -> ApprovalId:
    """The one approval whose id begins so."""
    lowest, highest = _range(beginning)
    query = select(Approval.id).where(Approval.workspace_id == session.workspace_id)
    query = query.where(Approval.id >= lowest, Approval.id <= highest).order_by(Approval.id).limit(2)
    match (await session.scalars(query)).all():
        case []:
            raise NotFound("No approval has such an id here. `gaby approvals list` shows the ids.")
        case [found]:
            return ApprovalId(found)
        case _:
            raise ApprovalIdAmbiguous


async def short_ids(session: ReadSession, ids: Sequence[ApprovalId]) -> Mapping[ApprovalId, str]:
    """Compared with approvals in every state, since commands take the id of each."""
    if not ids:
        return {}
    lowest, _ = _range(min(ids).hex[:SHORTEST])
    query = select(Approval.id).where(Approval.workspace_id == session.workspace_id, Approval.id >= lowest)
    known = (await session.scalars(query.order_by(Approval.id))).all()
    # Ids that share a beginning are neighbours in their order.
    needed = [_shared(one, other) + 1 for one, other in pairwise(known)]
    around = zip(known, [0, *needed], [*needed, 0], strict=True)
    lengths = {each: max(SHORTEST, before, after) for each, before, after in around}
    return {each: each.hex[: lengths.get(each)] for each in ids}


def _shared(one: UUID, other: UUID) -> int:
    """How many hexadecimal digits of their beginnings are the same."""
    return (128 - (one.int ^ other.int).bit_length()) // 4


def _range(beginning: str) -> tuple[UUID, UUID]:
    """The lowest and the highest id that begin so. Dashes do not count."""
    digits = beginning.replace("-", "").lower()
    if not SHORTEST <= len(digits) <= 32 or not _DIGITS.issuperset(digits):
        raise BadRequest(
            f"That is not an approval's id, nor {SHORTEST} or more characters of its beginning. "
            "`gaby approvals list` shows the ids."
        )
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
