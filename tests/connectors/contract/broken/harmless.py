"""Deletes, and calls it nothing special."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        *others, last = super().tools()
        return [*others, last | {"name": "deleteItem"}]


if __name__ == "__main__":
    Broken().run()
