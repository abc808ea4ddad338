"""Which keys to believe: a chain of rotations that starts, ends or passes at a key you know."""

from collections.abc import Sequence

from gaby.audit.findings import FindingKind
from gaby.audit.statements import Checkpoint, KeyEntry


class TrustedKeys:
    """The keys of an installation in the order they served. Problems are told, and the keys behind them left out."""

    def __init__(self, entries: Sequence[KeyEntry], *, trusted: str | None = None) -> None:
        self.problems: list[str] = []
        self._keys: dict[str, tuple[int, bytes]] = {}
        for entry in self._chained(entries):
            self._keys.setdefault(entry.key_id, (len(self._keys), entry.public_key))
        if trusted is not None and not self._knows(trusted):
            self.problems.append(f"The key you trust, {trusted}, is not among the keys that signed this log.")
            self._keys.clear()

    def public_key(self, key_id: str) -> bytes | None:
        key = self._keys.get(key_id)
        return key[1] if key else None

    def term(self, key_id: str) -> int:
        """The how-manieth key this is; a retired key must not sign after its successor did."""
        return self._keys[key_id][0]

    def problem(self, checkpoint: Checkpoint, *, since_term: int = 0) -> tuple[FindingKind, str] | None:
        """What is wrong with a checkpoint's signature, as the rest of a sentence about it."""
        known = self._keys.get(checkpoint.key_id)
        if known is None:
            return FindingKind.KEY_UNKNOWN, f"is signed by the unknown key {checkpoint.key_id}."
        term, public_key = known
        if not checkpoint.is_signed_by(public_key):
            return FindingKind.CHECKPOINT_FORGED, f"is not signed by key {checkpoint.key_id}."
        if term < since_term:
            return FindingKind.CHECKPOINT_FORGED, "is signed by a key that was already retired."
        return None

    def _knows(self, trusted: str) -> bool:
        wanted = trusted.strip().lower()
        return wanted in self._keys or any(wanted == public_key.hex() for _, public_key in self._keys.values())

    def _chained(self, entries: Sequence[KeyEntry]) -> Sequence[KeyEntry]:
        for at, entry in enumerate(entries):
            before = entries[at - 1].public_key if at else None
            rotation = entry.rotation
            good = (
                rotation is None
                if before is None
                else rotation is not None
                and (rotation.old, rotation.new) == (before, entry.public_key)
                and rotation.holds()
            )
            if not good:
                self.problems.append(f"Key {entry.key_id} came into office without the signatures of both keys.")
                return entries[:at]
        return entries
