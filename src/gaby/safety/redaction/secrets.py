"""Secrets: keys in a vendor's form, tokens, private keys, cookies, command lines, and what a word announces."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.credentials import find_credentials
from gaby.safety.redaction.one_time_codes import find_one_time_codes
from gaby.safety.redaction.scanned_text import ScannedText, long_tokens
from gaby.safety.redaction.spans import SpanCertainty, TextSpan
from gaby.safety.redaction.token_rules import CERTAIN_TOKEN, CHECKED_TOKEN, WEBHOOKS, is_aws_secret, is_mixed

_JWT = re.compile(r"eyJ(?<![A-Za-z0-9_\-]eyJ)[A-Za-z0-9_\-]{5,}\.[A-Za-z0-9_\-]{5,}\.[A-Za-z0-9_\-]*")
_BREAK = r"(?:\\?\r?\n[ \t>]{0,4})?"
_WRAPPED_PART = r"[A-Za-z0-9_\-]{1,2000}+(?:\r?\n[ \t>]{0,4}[A-Za-z0-9_\-]{16,2000}+){0,40}"
_WRAPPED_JWT = re.compile(
    rf"eyJ(?<![A-Za-z0-9_\-]eyJ){_WRAPPED_PART}{_BREAK}\.{_BREAK}eyJ{_WRAPPED_PART}{_BREAK}\.{_BREAK}{_WRAPPED_PART}"
)
_PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{1,70}-----")
_PUTTY = re.compile(r"PuTTY-User-Key-File-[23]:[^\x1e]{0,8000}?Private-MAC: [0-9a-f]{40,64}")
_URL_PASSWORD = re.compile(r"://[^\s/?#:@\x1e]{0,128}:([^\s/?#\x1e]{1,256})@(?=[\w\[])")
_COMMANDS = (
    (" -u", re.compile(r" -u ?[\"']?[^\s:\"'\x1e]{1,64}:([^\s\"'\x1e]{3,128})")),
    ("user", re.compile(r"--(?:proxy-)?user[ =][\"']?[^\s:\"'\x1e]{1,64}:([^\s\"'\x1e]{3,128})")),
    ("sshpass", re.compile(r"sshpass -p ?[\"']?([^\s\"'\x1e]{3,128})")),
    (
        "mysql",
        re.compile(r"mysql(?:dump|admin)?(?: -{1,2}[\w=./\-]{1,40}(?: [\w./]{1,40})?){0,4} -p([^\s\"'\x1e=]{3,64})"),
    ),
    ("net use", re.compile(r"/user:[^\s\x1e]{1,80} ([^\s/\x1e][^\s\x1e]{3,64})", re.IGNORECASE)),
)
_COOKIE = re.compile(r"(?<![\w\-])(set-)?cookie[\"']?: {0,3}[\"']?([^\s=;\"'\x1e]{1,80}=[^\r\n\"'\x1e]{1,4096})")
_COOKIE_OPTION = re.compile(r"(?: -b| --cookie) ?=?[\"']([^\s=;\"'\x1e]{1,80}=[^\r\n\"'\x1e]{1,4096})")
_QUERY = re.compile(
    r"[?&#](?:access_token|id_token|token|auth|key|api_key|apikey|sig|signature|code|jwt|session)=([^\s&#\"'<>\x1e]{16,2048})"
)
_AUTHORIZATION = re.compile(
    r"authorization[\"']? {0,3}[:=] {0,3}[\"']?((?:bearer|basic|token|apikey|digest) {1,3})?"
    r"([a-z0-9._~+/\-]{8,4096}+=*)"
)
_BEARER = re.compile(r"bearer {1,3}([a-z0-9._~+/\-]{8,4096}+=*)")
_LONG = 16
_AWS_LENGTH = 40


def find_secrets(sight: ScannedText) -> Iterator[TextSpan]:
    yield from find_private_keys(sight.text)
    for start, end in long_tokens(sight.text):
        yield from _tokens(sight, start, end)
    if "eyJ" in sight.text and "\n" in sight.text:
        yield from _spans(_WRAPPED_JWT, sight.text, 0, "token")
    yield from _in_links(sight)
    for mark, form in _COMMANDS:
        if mark in sight.low:
            for match in form.finditer(sight.text):
                yield TextSpan(match.start(1), match.end(1), "password", SpanCertainty.LIKELY)
    yield from find_credentials(sight)
    yield from find_one_time_codes(sight)
    yield from _authorized(sight)
    yield from _cookies(sight)


def _spans(form: re.Pattern[str], text: str, group: int, kind: str) -> Iterator[TextSpan]:
    for match in form.finditer(text):
        yield TextSpan(
            match.start(group), match.end(group), "token" if kind == "token" else "api_key", SpanCertainty.SURE
        )


def find_private_keys(text: str) -> Iterator[TextSpan]:
    at = text.find("-----BEGIN ")
    while at >= 0:
        end = at + 1
        if begin := _PEM_BEGIN.match(text, at):
            # Without its last line a key is still a key, so that everything after is taken for it.
            end = _pem_end(text, begin.end())
            yield TextSpan(at, end, "private_key", SpanCertainty.SURE)
        at = text.find("-----BEGIN ", end)
    if "PuTTY-User-Key" in text:
        for match in _PUTTY.finditer(text):
            yield TextSpan(match.start(), match.end(), "private_key", SpanCertainty.SURE)


def _pem_end(text: str, at: int) -> int:
    at = text.find("-----END ", at)
    while at >= 0:
        if match := _PEM_END.match(text, at):
            return match.end()
        at = text.find("-----END ", at + 1)
    return len(text)


def _tokens(sight: ScannedText, start: int, end: int) -> Iterator[TextSpan]:
    for match in CERTAIN_TOKEN.finditer(sight.text, start, end):
        first = _with_bot_number(sight.text, match.start())
        yield TextSpan(first, match.end(), "api_key", SpanCertainty.SURE)
    for match in CHECKED_TOKEN.finditer(sight.text, start, end):
        if is_mixed(match[0]):
            yield TextSpan(match.start(), match.end(), "api_key", SpanCertainty.LIKELY)
    for match in _JWT.finditer(sight.text, start, end):
        yield TextSpan(match.start(), match.end(), "token", SpanCertainty.SURE)
    if _AWS_LENGTH <= end - start <= _AWS_LENGTH + 1:
        stretch = sight.text[start:end].rstrip(".")
        if is_aws_secret(stretch):
            yield TextSpan(start, start + len(stretch), "api_key", SpanCertainty.LIKELY)


def _with_bot_number(text: str, start: int) -> int:
    """The number before a Telegram token is a part of it."""
    if text[start - 1 : start] != ":":
        return start
    number = re.search(r"[0-9]{8,10}\Z", text[max(0, start - 11) : start - 1])
    return start - 1 - len(number[0]) if number else start


def _in_links(sight: ScannedText) -> Iterator[TextSpan]:
    if "://" in sight.text:
        for match in _URL_PASSWORD.finditer(sight.text):
            yield TextSpan(match.start(1), match.end(1), "password", SpanCertainty.SURE)
        if "=" in sight.text:
            yield from _spans(_QUERY, sight.text, 1, "api_key")
    for mark, form in WEBHOOKS:
        if mark in sight.low:
            yield from _spans(form, sight.text, 1, "api_key")


def _authorized(sight: ScannedText) -> Iterator[TextSpan]:
    if "authorization" in sight.low:
        for match in _AUTHORIZATION.finditer(sight.low):
            if match[1] or not match[2].isalpha():
                yield TextSpan(match.start(2), match.end(2), "token", SpanCertainty.SURE)
    if "bearer " in sight.low:
        for match in _BEARER.finditer(sight.low):
            if len(match[1]) >= _LONG or not match[1].isalpha():
                yield TextSpan(match.start(1), match.end(1), "token", SpanCertainty.SURE)


def _cookies(sight: ScannedText) -> Iterator[TextSpan]:
    if "cookie" in sight.low:
        for match in _COOKIE.finditer(sight.low):
            start, end = match.span(2)
            if match[1]:
                # Of what a server sets, only the value is secret; name, path and flags say what goes wrong.
                start = sight.low.index("=", start) + 1
                end = min(end, sight.low.find(";", start) % (end + 1))
            yield TextSpan(start, end, "token", SpanCertainty.SURE)
    if " -b" in sight.low or "--cookie" in sight.low:
        yield from _spans(_COOKIE_OPTION, sight.low, 1, "token")
