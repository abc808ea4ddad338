"""No two classes of the source have the same name. Prints the names that do, with their files, and fails."""

import ast
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINNED = frozenset({"ApiKey", "Group", "Incident", "Person", "Ticket", "User"})
"""Connectors show these in the schemas of their results: another name would quarantine what is installed."""


def duplicates(source: Path) -> dict[str, list[str]]:
    """Each name that several classes have, with their places."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(source.rglob("*.py")):
        within = path.relative_to(source)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ClassDef) or (node.name in PINNED and within.parts[0] == "gaby_connectors"):
                continue
            places[node.name].append(f"{within.as_posix()}:{node.lineno}")
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def main() -> int:
    found = duplicates(ROOT / "src")
    for name, places in found.items():
        print(f"{name}: {', '.join(places)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
