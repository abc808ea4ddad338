"""Prints to where the protocol is spoken."""

import sys
from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def called(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        sys.stdout.write(f"Now calling {name}...\n")
        return super().called(name, given)


if __name__ == "__main__":
    Broken().run()
