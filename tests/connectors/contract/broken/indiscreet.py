"""Tells a secret of its configuration."""

import os
from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def call(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        return (
            self.result({"ok": True, "with": os.environ["SHOP_TOKEN"]})
            if name == "healthcheck"
            else super().call(name, given)
        )


if __name__ == "__main__":
    Broken().run()
