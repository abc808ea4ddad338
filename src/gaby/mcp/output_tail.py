"""The last words of a process: bounded, without secrets, safe to print."""

from gaby.mcp.launch import hide


class OutputTail:
    def __init__(self, limit: int, secrets: tuple[str, ...] = ()) -> None:
        self._limit = limit
        self._secrets = secrets
        self._kept = bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        self._kept += data[-2 * self._limit :]
        self.dropped += max(0, len(data) - 2 * self._limit)
        # Cut only now and then, since each cut moves what is kept.
        if len(self._kept) > 2 * self._limit:
            self._cut()

    def text(self) -> str:
        if len(self._kept) > self._limit:
            self._cut()
        kept = bytes(self._kept)
        if self.dropped:
            # What is left of a secret that was cut in two would not be recognised.
            kept = kept[max((len(secret.encode()) for secret in self._secrets), default=0) :]
            kept = b"[...] " + (kept.partition(b"\n")[2] or kept)
        return hide(kept.decode("utf-8", "replace"), self._secrets)

    def last(self, length: int = 1_000) -> str:
        """The end of it, for an error message."""
        return self.text().strip()[-length:]

    def _cut(self) -> None:
        excess = len(self._kept) - self._limit
        self.dropped += excess
        del self._kept[:excess]
