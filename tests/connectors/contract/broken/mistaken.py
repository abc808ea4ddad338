"""Its manifest speaks of an argument that does not exist."""

from typing import Any

from tests.connectors.contract.broken.plain import WRITE, Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        *others, last = super().tools()
        return [*others, last | {"_meta": {"gaby/tool": WRITE | {"steering": ["user_id"]}}}]


if __name__ == "__main__":
    Broken().run()
