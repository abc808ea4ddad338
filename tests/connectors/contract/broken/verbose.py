"""Gives 200 KB and does not say that there is more."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def call(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        return self.result({"text": "x" * 200_000}) if name == "get_item" else super().call(name, given)


if __name__ == "__main__":
    Broken().run()
