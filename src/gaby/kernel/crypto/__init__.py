"""Encryption: one master key, a data key per subject, and values sealed under it."""

from gaby.kernel.crypto.errors import CannotOpen, MasterKeyMissing, MasterKeyUnusable, SubjectShredded
from gaby.kernel.crypto.master import MasterKeys, WrappedKey
from gaby.kernel.crypto.vault import SubjectSealer, Vault

__all__ = [
    "CannotOpen",
    "MasterKeyMissing",
    "MasterKeyUnusable",
    "MasterKeys",
    "SubjectSealer",
    "SubjectShredded",
    "Vault",
    "WrappedKey",
]
