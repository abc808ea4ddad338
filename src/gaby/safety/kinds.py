"""Kinds: what a value names. The number of a note is not the number of an account, though the digits are the same."""

import re
from collections.abc import Sequence

_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_IDENTIFIERS = frozenset({"id", "ids", "uuid", "guid", "key", "ref", "reference", "number", "no", "nr"})
_TOO_GENERAL = frozenset({"name", "title", "code", "type", "status", "value", "label", "slug", "login", "handle"})
_NO_KIND = frozenset({"result", "data", "item", "row", "record"})


def kind_of_argument(name: str) -> str | None:
    """By its name: `user_id`, `userId` and `user` name a user. A bare `id` says nothing."""
    return _kind(_words(name))


def kind_of_field(path: Sequence[str]) -> str | None:
    """Of a field in a result: `users[].id` and `users[].user_id` name a user, `users[].name` a user's name."""
    names = [step for step in path if step != "[]"]
    if not names:
        return None
    words = _words(names[-1])
    above = _singular(_words(names[-2])) if len(names) > 1 else []
    if _IDENTIFIERS.issuperset(words) or (len(words) == 1 and words[0] in _TOO_GENERAL):
        words = [*above, *words]
    elif path[-1] == "[]":
        words = _singular(words)
    return _kind(words)


def _kind(words: list[str]) -> str | None:
    while words and words[-1] in _IDENTIFIERS:
        words = words[:-1]
    kind = "_".join(_singular(words))
    return None if not kind or kind in _NO_KIND or kind in _TOO_GENERAL else kind


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD_BREAK.split(name) if word]


def _singular(words: list[str]) -> list[str]:
    if not words:
        return words
    last = words[-1]
    for ending, one in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if last.endswith(ending):
            return [*words[:-1], last.removesuffix(ending) + one]
    plural = not last.endswith(("ss", "us", "is")) and len(last) > 2
    return [*words[:-1], last.removesuffix("s") if plural else last]
