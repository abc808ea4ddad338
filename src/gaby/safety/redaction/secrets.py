"""Secrets: keys with a known beginning, tokens, private keys, passwords, and whatever random text a word announces."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.sight import Sight, long_tokens
from gaby.safety.redaction.spans import Certainty, Span

_KNOWN_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_\-]{16,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}|"
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_\-]{16,}|"
    r"xox[a-z]-[A-Za-z0-9\-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[A-Za-z0-9_\-]{30,}|"
    r"ya29\.[A-Za-z0-9_\-]{20,}|SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}|npm_[A-Za-z0-9]{30,}|"
    r"hf_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{60,}|gaby-[a-z2-7]{12}\.[a-z2-7]{52}|gaby-[A-Za-z0-9_\-.]{16,})"
)
_JWT = re.compile(r"eyJ(?<![A-Za-z0-9_\-]eyJ)[A-Za-z0-9_\-]{5,}\.[A-Za-z0-9_\-]{5,}\.[A-Za-z0-9_\-]*")
_PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{1,70}-----")
_URL_PASSWORD = re.compile(r"://[^\s/?#:@\x1e]{0,128}:([^\s/?#\x1e]{1,256})@(?=[\w\[])")
_CURL_USER = re.compile(r" -u ?[\"']?[^\s:\"'\x1e]{1,64}:([^\s\"'\x1e]{3,128})")

# What makes a value one: after these words with a colon or an equals sign anything is a secret.
_STRONG = re.compile(
    r"[a-z0-9_\-]{0,32}(?:password|passwd|passphrase|passcode|passwort|kennwort|pwd|pw|contrasena|secret|"
    r"(?:secret|api|access|private)[_\-]?key|(?:auth|access|refresh|id|session|api)[_\-]?token)"
)
_ASSIGNED = re.compile(
    r"\\?[\"']?[ \t]{0,4}(?::=|=>|=|:)[ \t]{0,4}"
    r"(?:\\?\"([^\"\\\x1e\r\n]{1,512})|'([^'\x1e\r\n]{1,512})|([^\s\"',;&<>\x1e]{1,512}))"
)
_TOLD = re.compile(r"(?: (?:is|was|ist|lautet|es|est)(?: now)?:? | )[\"'`]?([^\s\"'`,;\x1e]{4,256})")
_AUTHORIZATION = re.compile(
    r"authorization[\"']? {0,3}[:=] {0,3}[\"']?((?:bearer|basic|token|apikey|digest) {1,3})?"
    r"([a-z0-9._~+/\-]{8,4096}+=*)"
)
_BEARER = re.compile(r"bearer {1,3}([a-z0-9._~+/\-]{8,4096}+=*)")
_WORD_END = re.compile(r"[a-z0-9_\-]{0,32}+")
_WORD_START = re.compile(r"[a-z0-9_\-]{0,32}+")
_WORDS = ("pass", "pw", "secret", "token", "key", "credential", "kennwort", "contrase")
_NOT_A_SECRET = re.compile(
    r"[*x•.]+|<[^>]*>?|\$?\{.*|\[.*|%\w+%?|null|none|nil|true|false|undefined|required|optional|string|redacted|empty|"
    r"yes|no|not|missing|invalid|incorrect|wrong|expired|reset|forgotten|unknown"
)
_LONG = 16
_VARIETY = 8


def find_secrets(sight: Sight) -> Iterator[Span]:
    yield from _private_keys(sight)
    for start, end in long_tokens(sight.text):
        yield from _tokens(sight, start, end)
    if "://" in sight.text:
        for found in _URL_PASSWORD.finditer(sight.text):
            yield Span(found.start(1), found.end(1), "password", Certainty.SURE)
    if " -u" in sight.text:
        for found in _CURL_USER.finditer(sight.text):
            yield Span(found.start(1), found.end(1), "password", Certainty.LIKELY)
    yield from _announced(sight)
    yield from _authorized(sight)


def is_random(text: str) -> bool:
    """Long, of many different characters, with letters and digits: no word, no date, no identifier."""
    characters = set(text)
    if len(text) < _LONG or len(characters) < _VARIETY:
        return False
    return any(map(str.isdigit, characters)) and any(map(str.isalpha, characters))


def _private_keys(sight: Sight) -> Iterator[Span]:
    at = sight.text.find("-----BEGIN ")
    while at >= 0:
        end = at + 1
        if begin := _PEM_BEGIN.match(sight.text, at):
            stop = _PEM_END.search(sight.text, begin.end())
            # Without its last line a key is still a key, so that everything after is taken for it.
            end = stop.end() if stop else len(sight.text)
            yield Span(at, end, "private_key", Certainty.SURE)
        at = sight.text.find("-----BEGIN ", end)


def _tokens(sight: Sight, start: int, end: int) -> Iterator[Span]:
    stretch = sight.text[start:end]
    for found in _KNOWN_KEY.finditer(stretch):
        yield Span(start + found.start(), start + found.end(), "api_key", Certainty.SURE)
    for found in _JWT.finditer(stretch):
        yield Span(start + found.start(), start + found.end(), "token", Certainty.SURE)


def _announced(sight: Sight) -> Iterator[Span]:
    for word in _WORDS:
        at = sight.low.find(word)
        while at >= 0:
            end = at + len(_match(_WORD_END, sight.low, at))
            yield from _value_after(sight, at, end)
            at = sight.low.find(word, end)


def _value_after(sight: Sight, at: int, end: int) -> Iterator[Span]:
    start = at - len(_match(_WORD_START, sight.low[max(0, at - 32) : at][::-1]))
    is_strong = _STRONG.fullmatch(sight.low[start:end]) is not None
    if assigned := _ASSIGNED.match(sight.text, end):
        group = assigned.lastindex or 0
        value = assigned[group]
        if is_random(value) or (is_strong and not _NOT_A_SECRET.fullmatch(value.lower())):
            kind = "password" if is_strong else "api_key"
            yield Span(assigned.start(group), assigned.end(group), kind, Certainty.SURE)
    elif told := _TOLD.match(sight.text, end):
        value = told[1].rstrip(".!?)")
        if is_random(value) or (is_strong and _looks_made_up(value)):
            kind = "password" if is_strong else "api_key"
            yield Span(told.start(1), told.start(1) + len(value), kind, Certainty.LIKELY)


def _authorized(sight: Sight) -> Iterator[Span]:
    if "authorization" in sight.low:
        for found in _AUTHORIZATION.finditer(sight.low):
            if found[1] or not found[2].isalpha():
                yield Span(found.start(2), found.end(2), "token", Certainty.SURE)
    if "bearer " in sight.low:
        for found in _BEARER.finditer(sight.low):
            if len(found[1]) >= _LONG or not found[1].isalpha():
                yield Span(found.start(1), found.end(1), "token", Certainty.SURE)


def _looks_made_up(value: str) -> bool:
    """A word of a sentence has only letters."""
    return len(value) >= 6 and not value.isdigit() and not value.replace("-", "").replace("'", "").isalpha()


def _match(pattern: re.Pattern[str], text: str, at: int = 0) -> str:
    found = pattern.match(text, at)
    return found[0] if found else ""
