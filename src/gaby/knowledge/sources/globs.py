"""Which paths an operator means by `docs/**, *.md`."""

import re
from collections.abc import Callable, Iterable

from gaby.knowledge.sources.source import BadSource

_LONGEST = 200
_MOST_STARS = 8
"""Each star multiplies the ways a long path can be tried."""


def chooses(include: Iterable[str], exclude: Iterable[str]) -> Callable[[str], bool]:
    """Says of a path whether it is meant: by one of `include`, or there is none, and by none of `exclude`."""
    wanted = [_pattern(glob) for glob in include]
    unwanted = [_pattern(glob) for glob in exclude]

    def chosen(path: str) -> bool:
        if any(pattern.fullmatch(path) for pattern in unwanted):
            return False
        return not wanted or any(pattern.fullmatch(path) for pattern in wanted)

    return chosen


def check_glob(glob: str) -> str:
    """Raises `BadSource` for one that cannot be meant."""
    _pattern(glob)
    return glob


def _pattern(glob: str) -> re.Pattern[str]:
    """Without a slash it means a name anywhere; `*` stays within a folder, `**` does not; a folder means all below."""
    if not glob or len(glob) > _LONGEST or glob.count("*") > _MOST_STARS:
        raise BadSource(f"`{glob[:40]}` is no pattern for paths. Write one such as `docs/**` or `*.md`.")
    anywhere = "(?:.*/)?" if "/" not in glob.rstrip("/") else ""
    below = ".*" if glob.endswith("/") else "(?:/.*)?"
    return re.compile(anywhere + _regex(glob.strip("/") + ("/" if glob.endswith("/") else "")) + below, re.DOTALL)


def _regex(glob: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(meaning.get(part, re.escape(part)) for part in parts)
