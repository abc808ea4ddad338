"""Which rows have not been seen yet. Keeps a bounded number of stretches, however damaged the log is."""

MAX_GAPS = 1000


class SequenceGaps:
    def __init__(self) -> None:
        self.lost = 0
        """Stretches that did not fit any more."""
        self._stretches: list[tuple[int, int]] = []

    def add(self, first: int, last: int) -> None:
        if len(self._stretches) < MAX_GAPS:
            self._stretches.append((first, last))
        else:
            self.lost += 1

    def fill(self, seq: int) -> bool:
        """Whether the row was still missing; now it is not."""
        for at, (first, last) in enumerate(self._stretches):
            if first <= seq <= last:
                rest = [(low, high) for low, high in ((first, seq - 1), (seq + 1, last)) if low <= high]
                if len(rest) == 2 and len(self._stretches) >= MAX_GAPS:
                    self.lost += 1
                    rest.pop()
                self._stretches[at : at + 1] = rest
                return True
        return False

    def open(self) -> list[tuple[int, int]]:
        return list(self._stretches)
