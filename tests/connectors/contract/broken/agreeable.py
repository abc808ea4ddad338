"""Knows every method."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        return super().answer(method, params) or {}


if __name__ == "__main__":
    Broken().run()
