"""Does not say which version its manifest has."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def initialized(self) -> dict[str, Any]:
        return super().initialized() | {"capabilities": {"tools": {}}}


if __name__ == "__main__":
    Broken().run()
