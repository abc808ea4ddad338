"""A call that was decided, and what it was decided by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gaby.safety import Trace, Verdict
from gaby.tools.catalogue import Snapshot, ToolEntry
from gaby.tools.runs import Call


@dataclass(frozen=True)
class Decided:
    """A call that may be carried out, and what was known when that was decided."""

    snapshot: Snapshot
    entry: ToolEntry
    call: Call
    arguments: Mapping[str, Any]
    verdict: Verdict
    traces: tuple[Trace, ...] = ()
