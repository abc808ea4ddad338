"""Does not know how it is."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        return super().tools()[1:]


if __name__ == "__main__":
    Broken().run()
