"""Values that the text itself gives to a parameter: `region: eu-west-1`, `queue billing-dlq`, `the Sales group`."""

import re
from collections.abc import Iterator

from gaby.mind.arguments.affinity import LIKELY, PLAUSIBLE, POSSIBLE
from gaby.mind.arguments.candidates import Candidate
from gaby.mind.arguments.slots import Slot
from gaby.mind.words import STOP_WORDS, stem, stems, words

READ = 20_000
"""Further on stand logs and old mail, which say many things of many things."""

_VALUE = (
    r"(?:[\"'`“]([^\"'`”\n]{1,120})[\"'`”]|"
    r"([A-Z][\w\-]{1,30}(?: [A-Z][\w\-]{1,30}){1,3}(?![\w.])|[A-Za-z0-9][\w.\-/+:]{0,80}))"
)
_AFTER = re.compile(
    rf"(?i:(?: (?:name|id|number|no\.?|code|key))?)( (?:is|was|called|named|to|of) |[ ]?[:=#][ ]?| ){_VALUE}"
)
_BEFORE = re.compile(
    r"(?:[\"'`“]([^\"'`”\n]{1,120})[\"'`”]|([A-Za-z0-9]{1,40}[\-_0-9][\w.\-]{0,40}|"
    r"[A-Z][\w\-]{1,30}(?: [a-z][\w\-]{1,20})?)) \Z"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_NOT_NOUNS = stems(
    "query search text message body content description reason comment note title subject data type format "
    "sort filter option include max min limit offset page from to since until start end date time email url "
    "user"
)
_STRONG = frozenset({":", "=", "#", "called", "named"})
_NUMBER_WORDS = stems("limit page port count top max size offset timeout threshold quantity retries level")
_NUMBER = re.compile(
    r"(?: (?:is|of|to|number|no\.?))?[ ]?[:=#]?[ ]?([0-9]{1,12}(?:\.[0-9]{1,6})?)(?![\w%]|[.:][0-9])", re.IGNORECASE
)
_COUNTED = re.compile(r"\b(?:top|last|first|latest|newest|next) ([0-9]{1,6})\b", re.IGNORECASE)


def announced(slot: Slot, text: str) -> Iterator[Candidate]:
    text = text[:READ]
    is_number = slot.is_number
    nouns = [noun for noun in slot.nouns if len(noun) > 1 and (is_number or noun not in _NOT_NOUNS)]
    if not nouns or slot.format:
        return
    for word in _WORD.finditer(text):
        if stem(word[0].lower()) == nouns[-1]:
            yield from _number_after(text, word.end()) if is_number else _around(text, word)
    if is_number and not _NUMBER_WORDS.isdisjoint(slot.words) and slot.words[0] in {"limit", "count", "top", "max"}:
        for found in _COUNTED.finditer(text):
            yield Candidate(int(found[1]), found.start(1), found.end(1), PLAUSIBLE, "number")


def _around(text: str, word: re.Match[str]) -> Iterator[Candidate]:
    if found := _AFTER.match(text, word.end()):
        group = 2 if found[2] else 3
        value = found[group].rstrip(".,;:/-")
        link = found[1].strip().lower()
        if value and _is_value(value, quoted=group == 2, announced=link in _STRONG, capitals=link in {"", "is"}):
            yield Candidate(value, found.start(group), found.start(group) + len(value), LIKELY)
        elif group == 3 and not link and _is_plain_name(value, text[found.start(3) + len(value) :][:5]):
            yield Candidate(value, found.start(3), found.start(3) + len(value), POSSIBLE + 0.05)
    start = max(0, word.start() - 130)
    if found := _BEFORE.search(text, start, word.start()):
        group = 1 if found[1] else 2
        value = found[group]
        opens = text[max(0, found.start(group) - 2) : found.start(group)].strip()
        # A capital at the beginning of a sentence is no name.
        is_name = (opens and opens[-1] not in ".!?:\n") or any(map(str.isdigit, value)) or group == 1
        if is_name and value.split()[0].lower() not in STOP_WORDS:
            yield Candidate(value, found.start(group), found.end(group), PLAUSIBLE + 0.05)


def _number_after(text: str, end: int) -> Iterator[Candidate]:
    if found := _NUMBER.match(text, end):
        number = float(found[1]) if "." in found[1] else int(found[1])
        yield Candidate(number, found.start(1), found.end(1), LIKELY, "number")


def _is_value(value: str, *, quoted: bool, announced: bool, capitals: bool) -> bool:
    if quoted:
        return True
    if value.lower() in STOP_WORDS or not words(value):
        return False
    is_made_up = len(value) > 2 if value[0].isdigit() else any(mark.isdigit() or mark in "_-/." for mark in value)
    return announced or is_made_up or (capitals and value[0].isupper())


def _is_plain_name(value: str, after: str) -> bool:
    """`namespace shop,` but not `the queue fills`: an ordinary word that ends its phrase and is no verb."""
    ends = not after.strip() or after[0] in ",;.)\n" or after.startswith((" in ", " on ", " at ", " for"))
    return ends and value.islower() and value not in STOP_WORDS and not value.endswith(("s", "ed", "ing", "ly"))
