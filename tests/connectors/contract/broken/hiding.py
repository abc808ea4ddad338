"""Hides characters in a description."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        first, *others = super().tools()
        return [first | {"description": "Check\u200b.\U000e0041"}, *others]


if __name__ == "__main__":
    Broken().run()
