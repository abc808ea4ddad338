"""Encryption: one master key, a data key per subject, and values sealed under it."""

from gaby.kernel.crypto.errors import CannotOpen, MasterKeyMissing, MasterKeyUnusable, SubjectShredded
from gaby.kernel.crypto.master import MasterKeys, Wrapped
from gaby.kernel.crypto.vault import Sealing, Vault

__all__ = [
    "CannotOpen",
    "MasterKeyMissing",
    "MasterKeyUnusable",
    "MasterKeys",
    "Sealing",
    "SubjectShredded",
    "Vault",
    "Wrapped",
]
