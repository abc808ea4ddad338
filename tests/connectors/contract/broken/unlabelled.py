"""Has no manifest."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        return [tool | {"_meta": {}} for tool in super().tools()]


if __name__ == "__main__":
    Broken().run()
