"""The reference pages of manifests and of the connectors that come with Gaby, made from the code."""

from typing import Any

from gaby_connectors.catalogue import BUNDLED, settings_of_bundle
from gaby_connectors.sdk.manifest import Autonomy, ResultLabel, ToolManifest

_INTRO = """# Manifest

What each tool of a connector may do, and what its arguments and results mean. Gaby's own connectors send it with
their tools; for somebody else's server an operator writes it as a YAML file: `gaby connector manifest NAME FILE`.

```yaml
manifest_version: 1.0.0
tools:
  refund_order: {scope: write, dangerous: true, steering: [order_id, amount], content: [reason]}
```

Field paths lead into a tool's structured result: `id`, `orders[].id`, `orders[].*`. What is left out is read in the
careful way: a text argument without a role steers, a result without a label is from outside, an argument that looks
like an address is a destination.
"""


def manifest_page() -> str:
    properties: dict[str, Any] = ToolManifest.model_json_schema()["properties"]
    rows = [f"| `{name}` | {_kind(each)} | {each.get('description', '')} |" for name, each in properties.items()]
    labels = [f"- `{label}`" for label in ResultLabel]
    levels = ", ".join(f"`{level}`" for level in Autonomy)
    return "\n".join(
        [
            _INTRO,
            "| field | value | meaning |",
            "|---|---|---|",
            *rows,
            "",
            f"Levels of autonomy: {levels}. Labels of results:",
            "",
            *labels,
            "",
        ]
    )


def connectors_page() -> str:
    lines = ["# Connectors that come with Gaby", "", "Add one with `gaby connector add NAME KIND`.", ""]
    for kind, bundle in BUNDLED.items():
        lines += [f"## {kind}", "", bundle.description, ""]
        rows = [
            f"| `{each.variable}`{' (secret)' if each.secret else ''} | {each.description} | "
            f"{'needed' if each.required else each.default or ''} |"
            for each in settings_of_bundle(bundle)
        ]
        if rows:
            lines += ["| setting | meaning | default |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _kind(declared: dict[str, Any]) -> str:
    if "enum" in declared:
        return " or ".join(f"`{each}`" for each in declared["enum"])
    names = {"boolean": "true or false", "array": "list of names", "object": "map", "string": "text"}
    options = declared.get("anyOf", [declared])
    shown = [_kind(each) if "enum" in each else names.get(each.get("type", ""), "") for each in options]
    return " or ".join(each for each in shown if each)
