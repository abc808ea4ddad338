"""Reads an OpenAPI file that somebody else may have written: bounded in size, depth and references."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from gaby_connectors.sdk.errors import NotConfigured

LARGEST_FILE = 8 * 1024 * 1024
DEEPEST = 60
MOST_NODES = 200_000
_CYCLE_DEPTH = 4
"""How often a schema may contain itself before the rest is left open."""


class _WithoutAliases(yaml.SafeLoader):
    """An alias can make a small file into an endless one, and OpenAPI has `$ref` for the purpose."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise NotConfigured("The OpenAPI file uses YAML aliases. Use `$ref` in their place.")
        return super().compose_node(parent, index)


def load_document(path: Path) -> dict[str, Any]:
    """The file as it is, without references resolved."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise NotConfigured("The OpenAPI file is larger than 8 MB.")
        text = path.read_text("utf-8")
        # Not `yaml.load` on the class: this subclass of the safe loader is what makes it safe.
        loaded: Any = json.loads(text) if text.lstrip().startswith("{") else _WithoutAliases(text).get_single_data()
    except OSError as error:
        raise NotConfigured(f"The OpenAPI file cannot be read: {error.strerror}.") from None
    except (ValueError, yaml.YAMLError, RecursionError):
        raise NotConfigured("The OpenAPI file is neither JSON nor YAML that can be read.") from None
    version = str(cast("dict[str, Any]", loaded).get("openapi", "")) if isinstance(loaded, dict) else ""
    if not version.startswith(("3.0", "3.1")):
        raise NotConfigured("This is no OpenAPI 3.0 or 3.1 file: its first field should be `openapi: 3.1.0`.")
    return cast("dict[str, Any]", loaded)


class Resolver:
    """Puts in what `$ref`s mean. They may only point into the same file."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._left = MOST_NODES

    def whole(self, value: Any, seen: tuple[str, ...] = (), depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            raise NotConfigured("The OpenAPI file is too large or too deep once its references are resolved.")
        match value:
            case {"$ref": str() as reference}:
                if seen.count(reference) >= _CYCLE_DEPTH:
                    return {}
                return self.whole(self._target(reference), (*seen, reference), depth + 1)
            case dict():
                fields = cast("dict[Any, Any]", value)
                return {str(key): self.whole(part, seen, depth + 1) for key, part in fields.items()}
            case list():
                return [self.whole(part, seen, depth + 1) for part in cast("list[Any]", value)]
            case _:
                return value

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            raise NotConfigured(f"The OpenAPI file refers to {reference[:100]!r}, outside of itself.")
        node: Any = self._document
        for step in reference[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or key not in node:
                raise NotConfigured(f"The OpenAPI file refers to {reference[:100]!r}, which is not there.")
            node = cast("dict[str, Any]", node)[key]
        return node
