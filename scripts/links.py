"""Checks every relative link and anchor of the Markdown pages, and that the site's navigation has all of docs."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
SITE = ROOT / "mkdocs.yml"
_MARKDOWN = MarkdownIt("commonmark").enable("table")


def pages() -> list[Path]:
    folders = [path for name in ("docs", "evals", ".github") for path in (ROOT / name).rglob("*.md")]
    own = [path for path in folders if not _is_sample(path)]
    return sorted([*ROOT.glob("*.md"), *own])


def _is_sample(path: Path) -> bool:
    """Pages of the companies that evaluations play belong to them."""
    return path.relative_to(ROOT).parts[0] == "evals" and path.name != "README.md"


def broken_links(page: Path) -> Iterator[str]:
    for target in _targets(page):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z][a-z0-9+.-]*:", target) or target.startswith("//"):
            continue
        file = (page.parent / unquote(path)).resolve() if path else page
        if not file.exists():
            yield f"{page.relative_to(ROOT)}: {target} does not exist"
        elif not file.is_relative_to(ROOT):
            yield f"{page.relative_to(ROOT)}: {target} leads out of the repository"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{page.relative_to(ROOT)}: {target} has no such heading"
        elif _leaves_docs(page, file):
            yield f"{page.relative_to(ROOT)}: {target} is not part of the site"


def _leaves_docs(page: Path, file: Path) -> bool:
    docs = ROOT / "docs"
    return page.is_relative_to(docs) and not file.is_relative_to(docs)


def _targets(page: Path) -> Iterator[str]:
    for token in _MARKDOWN.parse(page.read_text(encoding="utf-8")):
        for child in token.children or ():
            for name in ("href", "src"):
                if target := child.attrGet(name):
                    yield str(target)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The ids that headings get: lower case, words joined by hyphens, a number behind those that come again."""
    found: Counter[str] = Counter()
    names: set[str] = set()
    tokens = _MARKDOWN.parse(page.read_text(encoding="utf-8"))
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            slug = re.sub(r"[^\w\s-]", "", _plain(inline).lower()).strip().replace(" ", "-")
            names.add(f"{slug}-{found[slug]}" if found[slug] else slug)
            found[slug] += 1
    return frozenset(names)


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def pages_without_navigation() -> Iterator[str]:
    # The file has a tag that only the site's builder knows.
    navigation: Any = yaml.load(SITE.read_text(), Loader=yaml.BaseLoader)["nav"]  # noqa: S506
    named = set(_files(navigation))
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = str(page.relative_to(ROOT / "docs"))
        if name not in named:
            yield f"mkdocs.yml: docs/{name} is not in the navigation"
    for name in sorted(named):
        if not (ROOT / "docs" / name).exists():
            yield f"mkdocs.yml: docs/{name} does not exist"


def _files(entry: Any) -> Iterator[str]:
    match entry:
        case str():
            yield entry
        case list():
            for each in entry:  # pyright: ignore[reportUnknownVariableType]
                yield from _files(each)
        case dict():
            for each in entry.values():  # pyright: ignore[reportUnknownVariableType]
                yield from _files(each)
        case _:
            raise TypeError(entry)


def main() -> int:
    problems = [*(problem for page in pages() for problem in broken_links(page)), *pages_without_navigation()]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
