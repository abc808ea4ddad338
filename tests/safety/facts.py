"""Facts with which a change would be allowed, to be spoiled one at a time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from gaby.safety import (
    AccessRules,
    ApprovalFact,
    ArgumentLeaf,
    ArgumentRole,
    ArgumentTrace,
    Facts,
    Label,
    Origin,
    Policy,
    Scopes,
    ToolFacts,
)
from gaby_connectors.sdk.manifest import Autonomy, ToolManifest

NOW = datetime(2030, 1, 2, tzinfo=UTC)
EVERYTHING = Scopes(read=AccessRules(allow=("**",)), write=AccessRules(allow=("**",)))
ACTING = Policy(Autonomy.ACT, EVERYTHING)
OPERATOR = Origin(Label.OPERATOR, "the operator's words")
SYSTEM = Origin(Label.SYSTEM, "a result", "desk")


def tool(**manifest: Any) -> ToolFacts:
    declared = ToolManifest.model_validate({"scope": "write", "steering": ("who",), **manifest})
    of_arguments = {"who": ArgumentRole.STEERING, **dict.fromkeys(declared.destinations, ArgumentRole.DESTINATION)}
    return ToolFacts("desk", "unlock", declared, False, {}, of_arguments, declared.access, "f" * 64)


def facts(**changed: Any) -> Facts:
    """A write whose one steering value an operator has named."""
    trace = ArgumentTrace(ArgumentLeaf("who", "ada"), (OPERATOR,))
    good = Facts(tool(), {"who": "ada"}, "unlock", NOW, (trace,))
    return replace(good, **changed)


def traced(*origins: Origin, quantity: bool = False) -> ArgumentTrace:
    return ArgumentTrace(ArgumentLeaf("who", "ada", quantity), origins)


def approval(**changed: Any) -> ApprovalFact:
    good = ApprovalFact("approved", "bound", NOW + timedelta(hours=1), "grace")
    return replace(good, **changed)
