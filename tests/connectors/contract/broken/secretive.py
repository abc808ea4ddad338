"""Cuts a large result without a word."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def call(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        return self.result({"text": "x" * 1000}) if name == "get_item" else super().call(name, given)


if __name__ == "__main__":
    Broken().run()
