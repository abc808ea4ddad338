"""What a website asks of robots in its robots.txt (RFC 9309)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

_MOST_LINES = 5000
_MOST_RULES = 1000


@dataclass(frozen=True)
class RobotsRules:
    rules: tuple[tuple[str, bool], ...] = ()
    """Patterns of paths, and whether they are allowed."""
    delay: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, path: str) -> bool:
        """The longest pattern decides; of two that are as long, the one that allows."""
        matching = [(len(pattern), allowed) for pattern, allowed in self.rules if _matches(pattern, path)]
        return max(matching)[1] if matching else True


@dataclass
class _Group:
    agents: list[str] = field(default_factory=list[str])
    rules: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    delay: float | None = None
    closed: bool = False
    """Whether rules have begun, after which another agent begins another group."""


def read_robots(text: str, agent: str = "gaby") -> RobotsRules:
    groups, sitemaps = _groups(text)
    mine = [group for group in groups if agent in group.agents] or [group for group in groups if "*" in group.agents]
    rules = [rule for group in mine for rule in group.rules][:_MOST_RULES]
    delays = [group.delay for group in mine if group.delay is not None]
    return RobotsRules(tuple(rules), max(delays, default=None), tuple(sitemaps))


def _groups(text: str) -> tuple[list[_Group], list[str]]:
    groups: list[_Group] = []
    sitemaps: list[str] = []
    for name, value in _lines(text):
        if name == "sitemap":
            sitemaps.append(value)
        elif name == "user-agent":
            if not groups or groups[-1].closed:
                groups.append(_Group())
            groups[-1].agents.append(value.lower().partition("/")[0])
        elif groups:
            groups[-1].closed = True
            _add(groups[-1], name, value)
    return groups, sitemaps


def _add(group: _Group, name: str, value: str) -> None:
    if name in {"allow", "disallow"} and value:
        group.rules.append((value, name == "allow"))
    elif name == "crawl-delay":
        digits = value.replace(".", "", 1)
        group.delay = float(value) if digits.isascii() and digits.isdigit() else None


def _lines(text: str) -> Iterable[tuple[str, str]]:
    for line in text.removeprefix("\ufeff").splitlines()[:_MOST_LINES]:
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _matches(pattern: str, path: str) -> bool:
    """`*` is anything and `$` the end. Piece by piece, so that no pattern takes long."""
    whole = pattern.endswith("$")
    first, *pieces = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    last = pieces.pop() if whole and pieces else None
    for piece in pieces:
        position = path.find(piece, at)
        if position < 0:
            return False
        at = position + len(piece)
    if last is not None:
        return len(path) - len(last) >= at and path.endswith(last)
    return not whole or at == len(path)
