"""Says something else in every dry run."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def rename(self, given: dict[str, Any]) -> dict[str, Any]:
        self.told = getattr(self, "told", 0) + 1
        return {**super().rename(given), "told": self.told} if given.get("dry_run") else super().rename(given)


if __name__ == "__main__":
    Broken().run()
