"""Scopes: which paths of a connector may be read and written. A denial beats a permission; the rest is denied."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict

from gaby.kernel.errors import Invalid
from gaby.safety.value_match import same_case

_SEGMENT = re.compile(r"\*\*|(?:[A-Za-z0-9_.~%:@-]|\*(?!\*)|\{[a-z][a-z0-9_]*\})+")
_WILD = re.compile(r"(\*|\{[a-z][a-z0-9_]*\})")
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


class AccessRules(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    allow: tuple[Pattern, ...] = ()
    deny: tuple[Pattern, ...] = ()


class Scopes(BaseModel):
    """What a connector may do in a workspace, as its operator wrote it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    read: AccessRules = AccessRules()
    write: AccessRules = AccessRules()

    @classmethod
    def reading(cls) -> Self:
        """Everything may be read, nothing written: where a new connector starts."""
        return cls(read=AccessRules(allow=("**",)))


@dataclass(frozen=True)
class ScopeDecision:
    allowed: bool
    rule: Literal["scope.allowed", "scope.denied", "scope.not_allowed"]
    pattern: str | None


def check_scope(rules: AccessRules, path: str) -> ScopeDecision:
    segments = path.split("/")
    # A denial holds however the value is written: many systems take `R-1001` for `r-1001`.
    folded = same_case(path).split("/")
    for pattern in rules.deny:
        if _fits(same_case(pattern).split("/"), folded):
            return ScopeDecision(allowed=False, rule="scope.denied", pattern=pattern)
    for pattern in rules.allow:
        if _fits(pattern.split("/"), segments):
            return ScopeDecision(allowed=True, rule="scope.allowed", pattern=pattern)
    return ScopeDecision(allowed=False, rule="scope.not_allowed", pattern=None)


def template_arguments(template: str) -> list[str]:
    """The arguments that a path names."""
    return _ARGUMENT.findall(template)


def scope_path(template: str, arguments: Mapping[str, Any]) -> str:
    """The path that a call touches. Values are quoted, so none of them can add a segment or step out of its own."""

    def fill(match: re.Match[str]) -> str:
        value = arguments.get(match[1])
        # What is missing or no single value is a lone `-`, so the path keeps its number of segments.
        return quote(str(value).strip(), safe="") or "-" if isinstance(value, str | int | float) else "-"

    return _ARGUMENT.sub(fill, template)


def _fits(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Walks all readings of the pattern at once, so that no path, however hostile, takes long."""
    places = _after_any(pattern, {0})
    for segment in path:
        stay = {at for at in places if at < len(pattern) and pattern[at] == "**"}
        step = {at + 1 for at in places if at < len(pattern) and _segment_fits(pattern[at], segment)}
        places = _after_any(pattern, stay | step)
    return len(pattern) in places


def _after_any(pattern: Sequence[str], places: set[int]) -> set[int]:
    """`**` may also stand for nothing."""
    for at, segment in enumerate(pattern):
        if at in places and segment == "**":
            places = places | {at + 1}
    return places


def _segment_fits(pattern: str, segment: str) -> bool:
    """`*` is any part of a segment, `{name}` any part that is not empty. Each literal is taken where it comes first."""
    first, *rest = _WILD.split(pattern)
    if not rest:
        return segment == first
    if not segment.startswith(first):
        return False
    *wilds, open_end = rest[::2]
    *literals, last = rest[1::2]
    at = len(first)
    for wild, literal in zip(wilds, literals, strict=True):
        at = segment.find(literal, at + (wild != "*"))
        if at < 0:
            return False
        at += len(literal)
    return segment.endswith(last) and len(segment) - len(last) >= at + (open_end != "*")
