"""Scopes: which paths of a connector may be read and written. A denial beats a permission; the rest is denied."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict

from gaby.kernel.errors import Invalid

_SEGMENT = re.compile(r"\*\*|(?:[A-Za-z0-9_.~%:@-]|\*|\{[a-z][a-z0-9_]*\})+")
_PARAMETER = re.compile(r"\{[a-z][a-z0-9_]*\}")
_ARGUMENT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
_LONGEST = 200


class MalformedScope(Invalid):
    """A scope pattern is not well formed. Write segments between slashes, such as `users/*` or `users/{id}/unlock`."""


def checked_pattern(pattern: str) -> str:
    segments = pattern.split("/")
    if len(pattern) > _LONGEST or not all(_SEGMENT.fullmatch(segment) for segment in segments):
        raise MalformedScope(
            f"{pattern[:80]!r} is not a scope pattern. Write segments between slashes, such as `users/*` or "
            "`users/{id}/unlock`, with `*` or `{name}` for part of a segment and `**` for any number of them."
        )
    return pattern


Pattern = Annotated[str, AfterValidator(checked_pattern)]


class LaneRules(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    allow: tuple[Pattern, ...] = ()
    deny: tuple[Pattern, ...] = ()


class Scopes(BaseModel):
    """What a connector may do in a workspace, as its operator wrote it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    read: LaneRules = LaneRules()
    write: LaneRules = LaneRules()

    @classmethod
    def reading(cls) -> Self:
        """Everything may be read, nothing written: where a new connector starts."""
        return cls(read=LaneRules(allow=("**",)))


@dataclass(frozen=True)
class ScopeDecision:
    allowed: bool
    rule: Literal["scope.allowed", "scope.denied", "scope.not_allowed"]
    pattern: str | None


def check_scope(rules: LaneRules, path: str) -> ScopeDecision:
    for pattern in rules.deny:
        if _expression(pattern).fullmatch(path):
            return ScopeDecision(allowed=False, rule="scope.denied", pattern=pattern)
    for pattern in rules.allow:
        if _expression(pattern).fullmatch(path):
            return ScopeDecision(allowed=True, rule="scope.allowed", pattern=pattern)
    return ScopeDecision(allowed=False, rule="scope.not_allowed", pattern=None)


def scope_path(template: str, arguments: Mapping[str, Any]) -> str:
    """The path that a call touches. Values are quoted, so none of them can add a segment or step out of its own."""

    def fill(match: re.Match[str]) -> str:
        value = arguments.get(match[1])
        # What is missing or no single value is a lone `-`, so the path keeps its number of segments.
        return quote(str(value), safe="") if isinstance(value, str | int | float) and value != "" else "-"

    return _ARGUMENT.sub(fill, template)


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> re.Pattern[str]:
    """`**` is any number of segments, `*` any part of one, `{name}` one whole value."""
    parts = [_segment(segment) for segment in checked_pattern(pattern).split("/")]
    text = "/".join(parts)
    # `a/**` also covers `a` itself, and `**/b` covers `b`.
    text = text.replace("/\0", r"(?:/.*)?").replace("\0/", r"(?:.*/)?").replace("\0", ".*")
    return re.compile(text, re.DOTALL)


def _segment(segment: str) -> str:
    if segment == "**":
        return "\0"
    marked = _PARAMETER.sub("{}", segment)
    return re.escape(marked).replace(r"\{\}", "[^/]+").replace(r"\*", "[^/]*")
