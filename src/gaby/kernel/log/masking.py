"""Secrets never reach a log: by the name they go under, and by how they look."""

import re
from functools import lru_cache
from itertools import pairwise

MASK = "***"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRET_WORDS: set[str] = {
    *("password", "passwords", "passwd", "pwd", "passphrase"),
    *("secret", "secrets", "credential", "credentials", "apikey"),
    *("token", "jwt", "bearer", "csrf", "authorization", "cookie", "cookies"),
}
_SECRET_KEYS: set[str] = {"api", "private", "master", "secret", "signing", "encryption", "data", "access"}
_SECRET_ENDINGS = ("token", "secret", "cookie", "apikey", "passwd", "passphrase")

_API_KEY = re.compile(r"\b(gaby-[A-Za-z0-9_-]{1,64})\.[A-Za-z0-9_-]{4,}")
# Everything up to the last @ of the word, since people paste passwords with @ and / in them. Bounded, so never slow.
_URL_PASSWORD = re.compile(r"(://[^\s/:@?#]{0,200}:)\S{0,1000}(?=@)")
_ASSIGNED = re.compile(
    r"(?i)\b((?:[a-z]{1,20}[_-])?(?:password|passwd|pwd|secret|token|api[_-]?key)[\"']?\s?[=:]\s?)"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s&,;\"']+)"
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{12,}")


def is_secret_name(name: str, value: object = "") -> bool:
    """Whether a value under this name must be hidden. Counts of tokens are no secret, and neither is nothing."""
    if value is None or isinstance(value, bool):
        return False
    return _is_secret(name) or (not isinstance(value, int | float) and "tokens" in _words(name))


@lru_cache(maxsize=2_000)
def _is_secret(name: str) -> bool:
    words = _words(name)
    run_together = "".join(words)
    return (
        not _SECRET_WORDS.isdisjoint(words)
        or run_together.endswith(_SECRET_ENDINGS)
        or "password" in run_together
        or any(first in _SECRET_KEYS and second in ("key", "keys") for first, second in pairwise(words))
    )


@lru_cache(maxsize=2_000)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(name))


def mask(text: str) -> str:
    """The text without the API keys, URL passwords and assigned secrets in it."""
    if "gaby-" in text:
        text = _API_KEY.sub(rf"\1.{MASK}", text)
    if "://" in text and "@" in text:
        text = _URL_PASSWORD.sub(rf"\1{MASK}", text)
    if "=" in text or ":" in text:
        text = _ASSIGNED.sub(rf"\1{MASK}", text)
    if "earer" in text or "EARER" in text:
        text = _BEARER.sub(rf"\1{MASK}", text)
    return text
