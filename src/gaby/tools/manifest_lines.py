"""Where in a YAML file each part of it stands, so that an error can name its line."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import yaml

Place = Sequence[str | int]


class _NoAliases(yaml.SafeLoader):
    """A few bytes of nested aliases can grow to gigabytes; a manifest needs none."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed here")
        return super().compose_node(parent, index)


@dataclass(frozen=True)
class LocatedYaml:
    data: Any
    root: yaml.Node | None

    def line_of(self, place: Place) -> int:
        """Of the value at this place, or of whatever is nearest around it."""
        node, line = self.root, 1
        for step in place:
            line = _line(node, line)
            if isinstance(node, yaml.MappingNode):
                entries = [(key, value) for key, value in node.value if key.value == str(step)]
                if not entries:
                    return line
                key, node = entries[-1]
                line = key.start_mark.line + 1
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = _line(node, line)
            else:
                return line
        return line

    def doubled_keys(self) -> Iterator[tuple[int, str]]:
        """A key that is written twice: YAML would silently take the last."""
        left: list[yaml.Node] = [] if self.root is None else [self.root]
        while left:
            node = left.pop()
            if isinstance(node, yaml.SequenceNode):
                left += node.value
            if isinstance(node, yaml.MappingNode):
                seen: set[str] = set()
                for key, value in node.value:
                    if str(key.value) in seen:
                        yield key.start_mark.line + 1, str(key.value)
                    seen.add(str(key.value))
                    left.append(value)


def load_located(text: str) -> LocatedYaml:
    """`yaml.YAMLError` if it is no YAML that can be used."""
    loader = _NoAliases(text)
    try:
        root = loader.get_single_node()
        build = cast("Callable[[yaml.Node], Any]", getattr(loader, "construct_document"))  # noqa: B009
        return LocatedYaml(None if root is None else build(root), root)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Of a date with a month 99, say, the library knows only that some inner step failed.
        raise yaml.YAMLError(f"a value cannot be read ({type(error).__name__})") from error
    finally:
        loader.dispose()


def _line(node: yaml.Node | None, otherwise: int) -> int:
    return otherwise if node is None else node.start_mark.line + 1
