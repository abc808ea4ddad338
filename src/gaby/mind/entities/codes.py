"""Error codes: of vendors, of HTTP, of operating systems, and the names of exceptions."""

import re
from collections.abc import Iterator

from gaby.mind.entities.entity import Entity, made_up_words, said_before

_VENDOR = re.compile(
    r"(?<![\w\-])(?:E-?[0-9]{3,6}|ORA-[0-9]{4,5}|AADSTS[0-9]{4,7}|ERR[-_][A-Z0-9_\-]{2,60}|0x[0-9A-Fa-f]{4,16}|"
    r"SQLSTATE[ :\[]{1,3}[0-9A-Z]{5}|CVE-[0-9]{4}-[0-9]{4,7}|ERROR_[A-Z0-9_]{2,60})(?![\w\-])"
)
_ERRNO = re.compile(
    r"\b(?:ECONN(?:REFUSED|RESET|ABORTED)|ETIMEDOUT|ENOENT|EACCES|EPERM|ENOSPC|E(?:HOST|NET)(?:UNREACH|DOWN)|"
    r"ENOTFOUND|EPIPE|"
    r"EADDRINUSE|EADDRNOTAVAIL|E[MN]FILE|ENOMEM|EAGAIN|EAI_AGAIN|EIO|EBUSY|EEXIST|EINVAL|EISDIR|ENOTDIR|ENOTEMPTY|"
    r"EROFS|"
    r"EXDEV|EDQUOT|ESTALE|EPROTO|EMSGSIZE|ENOTCONN|ELIFECYCLE|ERESOLVE|NXDOMAIN|SERVFAIL|SIG(?:KILL|SEGV|TERM|"
    r"ABRT|BUS)|"
    r"OOMKilled|CrashLoopBackOff|ImagePullBackOff|ErrImagePull|CreateContainerConfigError|FailedScheduling)\b"
)
_REASONS = (
    r"Bad Request|Unauthori[sz]ed|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|"
    r"Request Timeout|"
    r"Conflict|Gone|Payload Too Large|Too Many Requests|Unprocessable (?:Entity|Content)|Locked|Internal Server Error|"
    r"Internal Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?out"
)
_STATUS = re.compile(r"(?<![\w.,$€£#\-])[1-5][0-9]{2}(?![\w%]|[.,:][0-9]|-[0-9])")
_HTTP_BEFORE = re.compile(
    r"\bHTTP(?:/[0-9](?:\.[0-9])?)?[ \-:]?(?:status|error|code|response)?(?: code)?[ :=]{0,2}\Z|"
    r"\b(?:error|status)(?: code)?[ :=#]{1,2}\Z",
    re.IGNORECASE,
)
_LINKS = frozenset({" ", ":", "-", "=", "#", "P", "p"})
_WIDEST = 24
_REASON_AFTER = re.compile(rf"(?: -)? (?:{_REASONS})\b", re.IGNORECASE)
_ERROR_AFTER = re.compile(r" (?:errors?|status|responses?)\b", re.IGNORECASE)
_VERB_BEFORE = re.compile(
    r"\b(?:gets?|got|getting|returns?|returned|returning|responds?|answers?|answered|throws?|gives?|an?|with|"
    r"sees?|is) \Z",
    re.IGNORECASE,
)
_VERB_AFTER = re.compile(
    r" (?:from|on|for|when|back|every|most|and|since|after|instead)\b|[.,;:)]|\s*\Z", re.IGNORECASE
)
_CALLED = re.compile(
    r"\b(?:(?:error|err|fault|exit|stop|fail(?:s|ed|ing|ure)? with|errno|exception)(?: code| status| number|"
    r" no\.?| message)?|"
    r"(?:return|result|reason|response) code)(?: is )?[ :=#(\"'`]{1,3}\Z",
    re.IGNORECASE,
)
_CODE_BEFORE = re.compile(r"\b(?:code|says?|shows?|displays?|display|blinks?)[ :=\"'`]{1,3}\Z", re.IGNORECASE)
_SHORT_CODE = re.compile(r"[A-Z]{1,8}[-_]?[0-9]{2,8}")
_NAMED = re.compile(r"(?<![\w.$\-])[A-Za-z_$][\w.$]{3,199}+")
_SYMBOL = re.compile(r"(?<![\w.\-])[A-Za-z][A-Za-z0-9]{1,30}(?:_[A-Za-z0-9]{1,30}){1,8}+(?![\w\-])")
_SAYS_WRONG = re.compile(
    r"(?:^|_)(?:err|error|errors|fail|failed|failure|invalid|denied|declined|timeout|exceeded|unauthorized|forbidden|"
    r"refused|rejected|nxdomain|expired|unavailable|unsupported|mismatch|exhausted|conflict|insufficient|missing|"
    r"revoked|"
    r"corrupt|overflow|unreachable|aborted|untrusted)(?:_|$)",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"[A-Z][A-Za-z0-9]{2,80}(?:Exception|Error|Fault|Failure)|[A-Z][a-z]+Timeout")
_UNITS_AFTER = re.compile(
    r" ?(?:%|ms|seconds?|minutes?|hours?|days?|times|users?|items?|rows?|gb|mb|kb)\b", re.IGNORECASE
)


def find_codes(text: str) -> Iterator[Entity]:
    for pattern in (_VENDOR, _ERRNO):
        for match in pattern.finditer(text):
            yield _code(text, match.start(), match.end())
    for match in _STATUS.finditer(text):
        if span := _status(text, match):
            yield _code(text, *span, match[0])
    for word in made_up_words(text):
        end = word.start() + len(word[0].rstrip("-/_."))
        if _is_called(text, word.start(), end):
            yield _code(text, word.start(), end)
    yield from _symbols(text)


def _status(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """A number is a status of HTTP only if the words around it say so. They are a part of the code, a verb is not."""
    start, end = match.span()
    said = _HTTP_BEFORE.search(text, max(0, start - _WIDEST), start) if text[start - 1 : start] in _LINKS else None
    reason = _REASON_AFTER.match(text, end)
    is_failure = match[0][0] in "45"
    if said or (reason and is_failure):
        return said.start() if said else start, reason.end() if reason else end
    context = _ERROR_AFTER.match(text, end) or (_VERB_AFTER.match(text, end) and said_before(_VERB_BEFORE, text, start))
    return (start, end) if is_failure and context else None


def _is_called(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if not value[:1].isalnum() or text[end : end + 1] == "%" or not any(map(str.isdigit, value)):
        return False
    if value.isdigit() and _UNITS_AFTER.match(text, end):
        return False
    if said_before(_CALLED, text, start):
        return True
    return _SHORT_CODE.fullmatch(value) is not None and said_before(_CODE_BEFORE, text, start) is not None


def _code(text: str, start: int, end: int, normal: str | None = None) -> Entity:
    return Entity("error_code", text[start:end], start, end, normal)


def _symbols(text: str) -> Iterator[Entity]:
    for match in _NAMED.finditer(text):
        name = match[0].rstrip(".$")
        if _EXCEPTION.fullmatch(name.rpartition(".")[2]):
            yield _code(text, match.start(), match.start() + len(name))
    for match in _SYMBOL.finditer(text):
        if _SAYS_WRONG.search(match[0]):
            yield _code(text, match.start(), match.end())
