"""Gives a text where an object is due."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def result(self, structured: Any) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": str(structured)}]}


if __name__ == "__main__":
    Broken().run()
