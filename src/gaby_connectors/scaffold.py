"""Writes a new connector for somebody to start from: small, complete, and already true to the contract."""

import re
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path
from string import Template

_NAME = re.compile(r"^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$")
_LONGEST = 40
_FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "samples.json": "samples.json",
    "{package}/__init__.py": "__init__.py",
    "{package}/__main__.py": "__main__.py",
    "{package}/config.py": "config.py",
    "{package}/tools.py": "tools.py",
    "tests/test_contract.py": "test_contract.py",
}


def create(name: str, folder: Path) -> Path:
    """Makes `folder/name` and fills it. Raises `ValueError` for a name that will not do, and never overwrites."""
    if not _NAME.match(name) or len(name) > _LONGEST or iskeyword(name):
        raise ValueError(
            f"{name!r} is no name for a connector: small letters, digits and dashes, beginning with a letter, such as "
            "acme-orders."
        )
    project = folder / name
    if project.exists():
        raise FileExistsError(f"{project} is there already.")
    words = _words(name)
    for path, template in _FILES.items():
        target = project / path.format(package=words["package"])
        target.parent.mkdir(parents=True, exist_ok=True)
        text = files("gaby_connectors").joinpath("template", f"{template}.txt").read_text("utf-8")
        target.write_text(Template(text).substitute(words), "utf-8")
    return project


def _words(name: str) -> dict[str, str]:
    parts = re.split(r"[-_]", name)
    snake = "_".join(parts)
    return {
        "name": snake,
        "project": f"{'-'.join(parts)}-connector",
        "package": f"{snake}_connector",
        "prefix": f"{snake.upper()}_",
        "classname": "".join(part.capitalize() for part in parts),
        "title": " ".join(part.capitalize() for part in parts),
    }
