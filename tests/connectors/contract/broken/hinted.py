"""Tells other clients that it destroys, and Gaby that it does not."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        *others, last = super().tools()
        return [*others, last | {"annotations": {"destructiveHint": True}}]


if __name__ == "__main__":
    Broken().run()
