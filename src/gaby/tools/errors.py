"""What can go wrong on the way to a tool, in words that say what to do."""

from gaby.kernel.errors import BadRequest, Conflict, Invalid, NotFound


class ToolUnknown(NotFound):
    """There is no such tool here. `gaby tools list` shows those that may be used."""


class ConnectorExists(Conflict):
    """A connector of this name exists in this workspace. Choose another name, or remove the old one."""


class ConnectorNotAccepted(Conflict):
    """The connector's tools have not been accepted yet. Look at them and accept them: `gaby connector accept NAME`."""


class NothingToAccept(Conflict):
    """The connector's tools are as they were accepted. There is nothing to decide."""


class DefinitionsMoved(Conflict):
    """The tools changed again since you looked at them. Look at the difference once more, then accept."""


class ManifestInvalid(Invalid):
    """The manifest cannot be used. Each entry of `errors` says where and why."""


class TooMuchAutonomy(Conflict):
    """A connector without a complete manifest can only investigate. Give it a manifest first."""


class ApprovalIdAmbiguous(BadRequest):
    """Several approvals have ids that begin so. Give more characters; `gaby approvals list` shows enough of each."""


class ApprovalClosed(Conflict):
    """Somebody has decided this already. Load it again to see who, and what."""


class ApprovalExpired(Conflict):
    """This request is too old to be decided. Ask for the action again."""


class ArgumentsNotJson(Invalid):
    """Arguments are JSON: text keys, finite numbers of at most 64 bit, whole characters, at most 256 KB in all."""


class ReasonMissing(Invalid):
    """Refusing or escalating needs a reason, for those who read it later."""
