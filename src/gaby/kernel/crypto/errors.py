"""What can go wrong with keys and sealed texts, and what to do about it."""

from gaby.kernel.errors import Conflict, GabyError


class MasterKeyUnusable(GabyError):
    """The master key file cannot be used. Restore it from your backup; without it, sealed texts stay shut."""

    exit_code = 3


class MasterKeyMissing(GabyError):
    """Something was encrypted with a master key that is not here. Restore the key file from your backup, or add the
    key to `GABY_CRYPTO_MASTER_KEY`."""

    exit_code = 3


class CannotOpen(GabyError):
    """The text cannot be decrypted: it was changed, or it was sealed for something else. Restore it from your
    backup."""


class SubjectShredded(Conflict):
    """The key of this subject was shredded, so nothing sealed for it can be read or added. That cannot be undone."""
