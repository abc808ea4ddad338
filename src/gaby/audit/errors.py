"""What can go wrong with the audit log, in words that say what to do."""

from gaby.audit.findings import Finding
from gaby.kernel.errors import Conflict, GabyError, Invalid, Misconfigured, Unavailable


class NotCanonical(Invalid):
    """A payload holds only JSON: text keys, finite numbers up to 64 bit, whole characters. Convert the value first."""


class PayloadTooLarge(Invalid):
    """An audit payload may be at most 1 MB. Store the data elsewhere and put its digest into the payload."""


class Malformed(Invalid):
    """This is not in the form that Gaby writes. Export again, or look for damage to the file."""


class ProofRejected(Conflict):
    """The proof does not hold. Its finding says what is wrong with it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.kind}: {finding.text}")
        self.finding = finding


class SigningKeyUnusable(Misconfigured):
    """The audit signing key cannot be used. Restore it from your backup."""


class AuditWouldWaitForItself(GabyError):
    """An audit row was appended on its own inside an open transaction. Emit an event on the session instead."""


class AuditUnavailable(Unavailable):
    """The audit log cannot be written, so nothing was done. Try again shortly; `gaby doctor` says what is wrong."""


class FenceBroken(Conflict):
    """What the decision rested on has changed meanwhile, so nothing was done. Decide anew."""


class OutcomeNotWritten(Unavailable):
    """Something was done or tried, but its outcome could not be written to the audit log. It stays listed as open."""


class IntentClosed(Conflict):
    """This intent already has its outcome. State a second effect with a second intent."""


class WitnessStateUnusable(Misconfigured):
    """The witness's own record cannot be read. A witness that has forgotten vouches for nothing: restore the file, or
    retire the witness and begin another with a new key."""


class WitnessSilent(Unavailable):
    """The witness did not answer as a witness does."""


class WitnessUnreachable(WitnessSilent):
    """The witness could not be asked."""


class CheckpointRefused(Conflict):
    """The audit log contradicts what was signed before, so it is not signed again. Run `gaby audit verify`."""
