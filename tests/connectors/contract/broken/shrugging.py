"""Takes any arguments."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def check(self, known: dict[str, Any], given: dict[str, Any]) -> None:
        given.setdefault("item_id", "item_1")
        given["item_id"] = "item_1"
        given.setdefault("name", "x")


if __name__ == "__main__":
    Broken().run()
