"""Fields that are personal or secret whatever they hold: by their name, or because a tool's manifest says so."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gaby.safety.redaction.field_words import (
    EXACT_NAMES,
    NAME_ENDINGS,
    PASSWORD_WORDS,
    PLACE_WORDS,
    QUIET_ENDINGS,
    SECRET_KEY_WORDS,
    SHORT_PASSWORD_WORDS,
    STATEMENT_WORDS,
    TOKEN_WORDS,
    folded,
)
from gaby.safety.redaction.spans import SECRET_KINDS, Kind

_LONGEST = 64
_NOT_A_NAME = re.compile(r"[@:/\\=<>{}](?=.)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN = re.compile(r"[\W_]+")
_TIME = re.compile(r"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]{5,16}(?:Z|[+\-][0-9:]{4,6})?)?")
_SMALL = 1000
_FACTS = frozenset(
    {"true", "false", "yes", "no", "on", "off", "none", "null", "enabled", "disabled", "bearer", "basic"}
)
_PASSWORDS, _TOKENS, _PLACES = tuple(PASSWORD_WORDS), tuple(TOKEN_WORDS), tuple(PLACE_WORDS)
_NUMBERS_THAT_OPEN = frozenset({"pin", "otp", "cvv", "cvc", "code"})

Path = tuple[str, ...]


@lru_cache(maxsize=4096)
def kind_of_field(name: str) -> Kind | None:
    """What a field of this name holds: `firstName`, `first_name` and `First-Name` are the same, and a name that only
    talks about a secret (`password_changed_at`, `has_password`, `token_count`) holds none."""
    # What is no name, such as a key in which a placeholder stands, must not become one by being redacted.
    if len(name) > _LONGEST or _NOT_A_NAME.search(name):
        return None
    words = [word for word in _BETWEEN.split(folded(_HUMP.sub("_", name))) if word]
    while len(words) > 1 and words[-1] in QUIET_ENDINGS:
        words.pop()
    if not words or words[0] in STATEMENT_WORDS:
        return None
    compact = "".join(words)
    if exact := EXACT_NAMES.get(compact):
        return exact
    return _secret_kind(words, compact) or next(
        (kind for ending, kind in NAME_ENDINGS if compact.endswith(ending)), None
    )


def _secret_kind(words: list[str], compact: str) -> Kind | None:
    """In the languages of field names the last word is what it is: a `token_count` is a count."""
    last = words[-1].rstrip("0123456789") or words[-1]
    before = words[-2] if len(words) > 1 else ""
    if words[-1] in SHORT_PASSWORD_WORDS or last in SHORT_PASSWORD_WORDS or last.endswith("secret"):
        return "password"
    if last.endswith(_PASSWORDS) or compact in PASSWORD_WORDS:
        return "password"
    if last == "key" and before in SECRET_KEY_WORDS:
        return "private_key" if before == "private" else "api_key"
    if last.endswith(_TOKENS) and not last.startswith(_PLACES) and before not in PLACE_WORDS:
        return "token"
    return None


def is_plain_fact(kind: Kind, name: str, value: Any) -> bool:
    """A switch, a time or a small count in a field whose name means a secret: it is about one, and is none."""
    if kind not in SECRET_KINDS:
        return False
    if isinstance(value, str):
        return value.strip().lower() in _FACTS or _TIME.fullmatch(value.strip()) is not None
    opens = any(word in name.lower() for word in _NUMBERS_THAT_OPEN)
    return isinstance(value, int | float) and abs(value) < _SMALL and not (opens and value >= _SMALL // 10)


class FieldHints:
    """`customer.notes` is that field; in `orders.*.address` the star is any one step; `nickname` is meant anywhere.

    Read in the careful way: places in lists need no step of their own, and a path also fits below whatever a server
    wraps its answer in (`result.customer.notes`).
    """

    def __init__(self, paths: Mapping[str, Kind]) -> None:
        self._anywhere: dict[str, Kind] = {}
        self._paths: list[tuple[Path, Kind]] = []
        for path, kind in paths.items():
            steps = tuple(step for step in path.replace("[]", ".*").split(".") if step)
            while steps and steps[-1] == "*" and len(steps) > 1:
                steps = steps[:-1]
            if len(steps) == 1 and steps[0] != "*":
                self._anywhere[steps[0]] = kind
            elif steps:
                self._paths.append((steps, kind))

    def __bool__(self) -> bool:
        return bool(self._anywhere or self._paths)

    def kind_at(self, path: Path) -> Kind | None:
        """What the field at the end of this path is; steps through lists are their places, as digits."""
        if path and path[-1] in self._anywhere:
            return self._anywhere[path[-1]]
        return next((kind for steps, kind in self._paths if _fits(steps, path)), None)


def _fits(steps: Path, path: Path) -> bool:
    """Whether the path ends with these steps."""
    if not steps:
        return True
    if not path:
        return False
    if steps[-1] in {"*", path[-1]} and _fits(steps[:-1], path[:-1]):
        return True
    # A star may also stand for a list that is not there, and a list may stand where no star is.
    return (path[-1].isdigit() and _fits(steps, path[:-1])) or (steps[-1] == "*" and _fits(steps[:-1], path))


NO_HINTS = FieldHints({})
