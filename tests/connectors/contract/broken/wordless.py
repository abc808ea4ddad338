"""Says nothing about one of its tools."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        first, *others = super().tools()
        return [first | {"description": " "}, *others]


if __name__ == "__main__":
    Broken().run()
