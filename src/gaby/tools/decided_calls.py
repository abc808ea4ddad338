"""A call that was decided, and what it was decided by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gaby.safety import ArgumentTrace, Verdict
from gaby.tools.catalogue import CatalogueSnapshot, ToolEntry
from gaby.tools.runs import ToolCall


@dataclass(frozen=True)
class DecidedCall:
    """A call that may be carried out, and what was known when that was decided."""

    snapshot: CatalogueSnapshot
    entry: ToolEntry
    call: ToolCall
    arguments: Mapping[str, Any]
    verdict: Verdict
    traces: tuple[ArgumentTrace, ...] = ()
