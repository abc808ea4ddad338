"""What can be wrong with an evaluation before it begins."""

from gaby.kernel.errors import BadRequest, GabyError


class FixtureBroken(BadRequest):
    """A fixture cannot be used. The message names its file and what is wrong in it."""


class NothingToEvaluate(GabyError):
    """There is nothing to evaluate, and an evaluation of nothing proves nothing. Say where with --fixtures DIR."""


class PeerMissing(BadRequest):
    """This peer is not here. `gaby eval run --help` shows how peers are named."""
