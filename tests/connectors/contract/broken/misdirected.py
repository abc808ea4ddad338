"""Its manifest labels a field that its results do not have."""

from typing import Any

from tests.connectors.contract.broken.plain import READ, Plain

OUTPUT = {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}


class Broken(Plain):
    def tools(self) -> list[dict[str, Any]]:
        health, get_item, *others = super().tools()
        labelled = READ | {"results": {"number": "system"}}
        return [health, get_item | {"outputSchema": OUTPUT, "_meta": {"gaby/tool": labelled}}, *others]


if __name__ == "__main__":
    Broken().run()
