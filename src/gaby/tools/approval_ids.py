"""Which approval is meant by a reference, an id, or the beginning of one."""

from collections.abc import Mapping, Sequence

from gaby.kernel.database import ReadSession
from gaby.kernel.database.references import find_reference, is_reference
from gaby.kernel.database.short_ids import SHORTEST, ids_beginning, short_ids
from gaby.kernel.errors import BadRequest, NotFound
from gaby.kernel.ids import ApprovalId
from gaby.tools.errors import ApprovalIdAmbiguous
from gaby.tools.models import Approval


async def find_approval(session: ReadSession, beginning: str) -> ApprovalId:
    """The one approval with this reference, or whose id begins so."""
    if (numbered := await find_reference(session, beginning, Approval)) is not None:
        return ApprovalId(numbered)
    if is_reference(beginning, Approval):
        raise NotFound(f"There is no approval {beginning.upper()} here. `gaby approvals list` shows them.")
    match await ids_beginning(session, beginning, Approval):
        case None:
            raise BadRequest(
                f"That is not an approval's reference or id, nor {SHORTEST} or more characters of its beginning. "
                "`gaby approvals list` shows them."
            )
        case []:
            raise NotFound("No approval has such an id here. `gaby approvals list` shows the ids.")
        case [found]:
            return ApprovalId(found)
        case _:
            raise ApprovalIdAmbiguous


async def approval_names(session: ReadSession, rows: Sequence[Approval]) -> Mapping[ApprovalId, str]:
    """What to call each: its reference, or a short id where an older version has written it since the upgrade."""
    short = await short_ids(session, [row.id for row in rows if row.reference is None], Approval)
    return {row.typed_id: row.reference or short[row.id] for row in rows}
