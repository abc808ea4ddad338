"""Passwords and keys that a word announces: `DB_PASS=…`, `password is …`, `<pwd>…</pwd>`, a column of a table.

The word is read as the name of a field, so that `password_changed_at: 2026-03-04` announces nothing.
"""

import re
from collections.abc import Iterator

from gaby.safety.redaction.credential_tables import secrets_in_column
from gaby.safety.redaction.field_words import (
    ABSENT,
    NUMERIC_SECRETS,
    PASSWORD_PHRASES,
    PASSWORD_WORDS,
    SHORT_PASSWORD_WORDS,
)
from gaby.safety.redaction.fields import is_plain_fact, kind_of_field
from gaby.safety.redaction.scanned_text import ScannedText, words_of
from gaby.safety.redaction.spans import SECRET_KINDS, SpanCertainty, TextSpan

_STEMS = ("pass", "secret", "token", "key", "pwd")
"""They count inside of longer words too: `smtpPassword`."""
_WORDS = PASSWORD_WORDS | SHORT_PASSWORD_WORDS | {"credentials", "credential", "creds"}
_FIRST_WORDS = {
    first: tuple(phrase for phrase in PASSWORD_PHRASES if words_of(phrase)[0] == first)
    for first in (words_of(phrase)[0] for phrase in PASSWORD_PHRASES)
}
_ANNOUNCING = (*_STEMS, "credential", "cred", "pw", "cookie")
_WEAK = frozenset({"token", "cookie", "bearer", "jwt", "authorization"})
"""Words with too many other uses: only random text after them is a secret."""
_NAME = re.compile(r"[\w\-.$]{0,48}+")
_WITHIN = 48

_CLOSING = r"(?:\\?[\"'`]|\*\*|__|\]|\)|</[a-z]{1,10}>){0,3}"
_OPENING = r"(?:\*\*|__|<[a-z]{1,10}>)?"
_OF = r"(?: (?:for|of|del|de|der|des|du|da|do|van|fur|til|per|dell'|d')[ ]?[\w'.@]{1,24}){0,2}"
_SEPARATOR = r"[ \t]{0,4}(?::=|=>|->|→|={1,2}|:|：|-(?=\s))[ \t]{0,4}"
_QUOTED = r"\\?\"([^\"\\\x1e\r\n]{1,256})|\\?'([^'\\\x1e\r\n]{1,256})|`([^`\x1e\r\n]{1,256})"
_BARE = r"([^\s\"',;&<>|\x1e][^\s\"',;&<>\x1e]{0,255}+(?:&(?!\w{1,30}=|amp;)[^\s\"',;&<>\x1e]{0,64}+){0,3}+)"
_VALUE = rf"{_OPENING}(?:{_QUOTED}|{_BARE})"
_BE = r"(?:is|was|ist|war|lautet|es|est|era|e|jest|ar|er)(?: now)?"
_ASSIGNED = re.compile(rf"{_CLOSING}{_OF}{_SEPARATOR}{_VALUE}")
_BELOW = re.compile(rf"{_CLOSING}(?:[ \t]{_BE})?[ \t]{{0,3}}[:=]?[ \t]{{0,3}}(?:\r?\n[ \t]{{0,8}}){{1,2}}{_VALUE}")
_TOLD = re.compile(rf"{_CLOSING}(?:{_OF} {_BE} ?:?[ \t]{{1,3}}|[ \t]{{1,3}}){_VALUE}", re.IGNORECASE)
_TAG = re.compile(r"(?:\s[^<>]{0,200})?>\s{0,8}([^<>\s\x1e][^<>\r\n\x1e]{0,255})<")
_ATTRIBUTE = re.compile(r"[\"']\s{1,4}(?:value|content|val)\s{0,2}=\s{0,2}[\"']([^\"'\x1e\r\n]{1,256})")
_PAIR = re.compile(r"(?::|=| are| is)?[ \t]{1,3}[\w.@\-]{1,64} {0,2}/ {0,2}([^\s/,;\x1e]{4,128})")
_LINE = re.compile(rf"{_CLOSING}{_SEPARATOR}([^\s\"'\x1e][^\r\n\"'\x1e]{{3,80}})")

_HOLLOW = re.compile(
    r"[*x•.#_\-]+|<[^>]*>?|\$?[{(\[].*|\$[a-z0-9_]+|%\w+%?|[\w.]*\(.*|your[_\-].*|(?:arn|https?|vault|file|s3|ssm):.*|.*\[redacted.*",
    re.IGNORECASE,
)
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_LONG = 16
_VARIETY = 8


def find_credentials(sight: ScannedText) -> Iterator[TextSpan]:
    seen: set[int] = set()
    for stem in _stems(sight):
        at = sight.low.find(stem)
        inside = 0
        while at >= 0:
            end = at + max(len(stem), len(_match(_NAME, sight.low, at)))
            start = at - len(_match(_NAME, sight.low[max(0, at - _WITHIN) : at][::-1]))
            # In `key=key=key=…` what follows the first is its value, and looked at with it.
            if not (end < inside and sight.text[start - 1 : start] == "="):
                inside = end + _WITHIN
                if end not in seen:
                    seen.add(end)
                    yield from _announced(sight, start, end, stem)
            at = sight.low.find(stem, end)


def is_random(text: str) -> bool:
    """Long, of many different characters, with letters and digits: no word, no date, no identifier."""
    characters = set(text)
    if len(text) < _LONG or len(characters) < _VARIETY:
        return False
    return any(map(str.isdigit, characters)) and any(map(str.isalpha, characters))


def _stems(sight: ScannedText) -> Iterator[str]:
    for word in _FIRST_WORDS.keys() & sight.words:
        yield from _FIRST_WORDS[word]
    yield from _STEMS
    yield from sorted(_WORDS & sight.words)


def _announced(sight: ScannedText, start: int, end: int, stem: str) -> Iterator[TextSpan]:
    name = stem if stem in PASSWORD_PHRASES else sight.text[start:end].strip("-.$")
    is_strong = stem in PASSWORD_PHRASES or (kind_of_field(name) in SECRET_KINDS and name.lower() not in _WEAK)
    text = sight.text
    if column := list(secrets_in_column(text, start, end)) if is_strong else []:
        for begin, stop in column:
            yield from _secret(text[begin:stop], begin, name, is_strong=True, is_assigned=False)
    elif (is_strong or stem.startswith("cred")) and (match := _PAIR.match(text, end)):
        yield from _match_spans(match, name, is_strong=True, is_assigned=False)
    elif match := _assignment(text, start, end, name):
        yield from _match_spans(match, name, is_strong=is_strong, is_assigned=True)
    elif is_strong and (match := _BELOW.match(text, end)):
        group = match.lastindex or 0
        yield from _secret(match[group], match.start(group), name, is_strong=True, is_assigned=False)
    elif match := _TOLD.match(text, end):
        yield from _match_spans(match, name, is_strong=is_strong, is_assigned=False)


def _assignment(text: str, start: int, end: int, name: str) -> re.Match[str] | None:
    if text[start - 1 : start] == "<" and (match := _TAG.match(text, end)):
        return match
    # A passphrase has blanks in it.
    if "phrase" in name.lower() and (match := _LINE.match(text, end)):
        return match
    return _ATTRIBUTE.match(text, end) or _ASSIGNED.match(text, end)


def _match_spans(match: re.Match[str], name: str, *, is_strong: bool, is_assigned: bool) -> Iterator[TextSpan]:
    group = match.lastindex or 0
    value = match[group] if is_assigned else match[group].rstrip(".!?):")
    return _secret(value, match.start(group), name, is_strong=is_strong, is_assigned=is_assigned)


def _secret(value: str, start: int, name: str, *, is_strong: bool, is_assigned: bool) -> Iterator[TextSpan]:
    if _is_absent(value) or is_plain_fact("password", name, value):
        return
    if not is_random(value) or not name.lower().rstrip("s").endswith(_ANNOUNCING):
        if not is_strong:
            return
        if not (_is_assignable(value, name) if is_assigned else _looks_made_up(value, name)):
            return
    certainty = SpanCertainty.SURE if is_assigned else SpanCertainty.LIKELY
    yield TextSpan(start, start + len(value), "password" if is_strong else "api_key", certainty)


def _is_absent(value: str) -> bool:
    """Nothing, a stand-in for the reader, or where the secret is kept."""
    return (
        value.lower().strip(".!") in ABSENT
        or _HOLLOW.fullmatch(value) is not None
        or _CONSTANT.fullmatch(value) is not None
    )


def _is_assignable(value: str, name: str) -> bool:
    """`pass: 812` counts tests, and `passcode: 1234` opens a door."""
    last = re.split(r"[_\-.]", name.lower())[-1]
    return not value.isdigit() or (last not in SHORT_PASSWORD_WORDS or last in NUMERIC_SECRETS)


def _looks_made_up(value: str, name: str) -> bool:
    """A word of a sentence has only letters; a PIN has only digits."""
    if value.isdigit():
        return 3 <= len(value) <= 8 and name.lower() in NUMERIC_SECRETS
    return len(value) >= 6 and not re.sub(r"[-'/]", "", value).isalpha()


def _match(pattern: re.Pattern[str], text: str, at: int = 0) -> str:
    match = pattern.match(text, at)
    return match[0] if match else ""
