"""Dies of bad arguments."""

import sys
from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def check(self, known: dict[str, Any], given: dict[str, Any]) -> None:
        if "no_such_argument" in given:
            sys.exit(1)
        super().check(known, given)


if __name__ == "__main__":
    Broken().run()
