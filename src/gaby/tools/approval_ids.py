"""Which approval is meant by an id, or by the beginning of one."""

from collections.abc import Mapping, Sequence
from typing import cast

from gaby.kernel.database import ReadSession
from gaby.kernel.database.short_ids import SHORTEST, ids_beginning
from gaby.kernel.database.short_ids import short_ids as shorten
from gaby.kernel.errors import BadRequest, NotFound
from gaby.kernel.ids import ApprovalId
from gaby.tools.errors import ApprovalIdAmbiguous
from gaby.tools.models import Approval


async def find_approval(session: ReadSession, beginning: str) -> ApprovalId:
    """The one approval whose id begins so."""
    match await ids_beginning(session, beginning, Approval):
        case None:
            raise BadRequest(
                f"That is not an approval's id, nor {SHORTEST} or more characters of its beginning. "
                "`gaby approvals list` shows the ids."
            )
        case []:
            raise NotFound("No approval has such an id here. `gaby approvals list` shows the ids.")
        case [found]:
            return ApprovalId(found)
        case _:
            raise ApprovalIdAmbiguous


async def short_ids(session: ReadSession, ids: Sequence[ApprovalId]) -> Mapping[ApprovalId, str]:
    """Compared with approvals in every state, since commands take the id of each."""
    return cast("Mapping[ApprovalId, str]", await shorten(session, ids, Approval))
