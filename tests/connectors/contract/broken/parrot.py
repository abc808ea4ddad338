"""Repeats what it is told, secrets and all."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain, Refused


class Broken(Plain):
    def call(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("item_id") not in (None, "item_1"):
            raise Refused(f"There is no item {given['item_id']}.")
        return super().call(name, given)


if __name__ == "__main__":
    Broken().run()
