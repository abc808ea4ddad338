"""Describes a tool in five thousand characters."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        first, *others = super().tools()
        return [first | {"description": "really " * 800}, *others]


if __name__ == "__main__":
    Broken().run()
