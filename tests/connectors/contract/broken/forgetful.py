"""Does it again when asked again."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def rename(self, given: dict[str, Any]) -> dict[str, Any]:
        self.remembered.clear()
        return super().rename(given)


if __name__ == "__main__":
    Broken().run()
