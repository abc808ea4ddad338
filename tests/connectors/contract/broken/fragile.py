"""Dies of a line that is no JSON."""

import json
from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def read(self, line: str) -> Any:
        return json.loads(line)


if __name__ == "__main__":
    Broken().run()
