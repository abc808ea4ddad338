"""A message without its frame: whom it greets, who signed it, and what a mail program puts below it."""

import re

_CLOSES = re.compile(
    r"\s*(?:--+|(?:(?:with |my )?(?:best|kind(?:est)?|warm(?:est)?|many|friendly) )?"
    r"(?:regards|wishes|greetings|thanks|thank you|thx|ta|tia|cheers|best|sincerely|yours(?: \w+)?))"
    r"(?: (?:in advance|again|all|you|very much|a lot|so much|everyone|team))*\s*[,.!]*\s*$",
    re.IGNORECASE,
)
_SENT_FROM = re.compile(r"\s*(?:sent|written) (?:from|with|by|on) (?:my|the)\b", re.IGNORECASE)
_GREETS = re.compile(
    r"\s*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day))(?:[ ,]+[\w.'’]+){0,4}\s*[,!.:]*\s*$",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\s*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day))(?: [\w.'’]+){0,3}\s*[,!]\s+", re.IGNORECASE
)
_MASKED = re.compile(r"\[(?:name|email|phone|address):[^\]\n]{1,60}\]")
"""What stands in the place of personal data."""
_MOST_WORDS = 6
_MOST_LINES = 6
_NAME_WORDS = 4
_WORD = re.compile(r"[^\W_][\w.'’-]*")


def unframed(text: str) -> str:
    """Names of people are no part of a question, and their addresses neither."""
    lines = _MASKED.sub("", text).splitlines()
    kept: list[str] = []
    signed = 0
    for line in lines:
        if signed and _is_signed(line) and signed < _MOST_LINES:
            signed += bool(line.strip())
        elif _CLOSES.match(line) or _SENT_FROM.match(line):
            signed = 1
        else:
            signed = 0
            kept.append(
                "" if _GREETS.match(line) else _GREETING.sub("", line, count=1) if _GREETING.match(line) else line
            )
    while len(kept) > 1 and (not kept[-1].strip() or _is_name(kept[-1])):
        kept.pop()
    return "\n".join(kept)


def _is_signed(line: str) -> bool:
    """Short and without a question: a name, a department, an address."""
    return "?" not in line and len(line.split()) <= _MOST_WORDS


def _is_name(line: str) -> bool:
    name_words = _WORD.findall(line)
    return (
        0 < len(name_words) <= _NAME_WORDS
        and all(each[0].isupper() for each in name_words)
        and line.rstrip()[-1] not in "?!:"
    )
