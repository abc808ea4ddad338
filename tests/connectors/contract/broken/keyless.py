"""Takes no idempotency key."""

from typing import Any

from tests.connectors.contract.broken.plain import Plain


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        tools = super().tools()
        del tools[-1]["inputSchema"]["properties"]["idempotency_key"]
        return tools


if __name__ == "__main__":
    Broken().run()
