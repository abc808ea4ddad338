"""Writes every argument to its log."""

import sys
from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def called(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        sys.stderr.write(f"{name} {given}\n")
        return super().called(name, given)


if __name__ == "__main__":
    Broken().run()
