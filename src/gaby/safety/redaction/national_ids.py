"""National identity and tax numbers, each with its own check. A weak check alone makes a number only possible."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.id_rules import FORMS, CompiledForm
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_JOINED = re.compile(r"[0-9][\-./]")
_LAST_GROUP = re.compile(r"[^0-9][0-9]+\Z")
_NEXT_GROUP = re.compile(r"[^0-9][0-9]+")
_GROUP_BEFORE = re.compile(r"[0-9]+[^0-9]\Z")
_MANY = 100
_BEFORE = 40
_AFTER = 24
_NINO = re.compile(r"[A-Za-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]")
_NINO_LETTERS = re.compile(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[ABCEGHJ-PRSTW-Z][ABCEGHJ-NPRSTW-Z]", re.IGNORECASE)


def find_national_ids(sight: ScannedText) -> Iterator[TextSpan]:
    # To search the whole text for words pays only where many numbers would ask for them.
    forms = _Forms(sight).of_length if len(sight.numbers) > _MANY else _all_forms
    for start, length in sight.numbers:
        for form in forms(length):
            if (match := form.rest.match(sight.text, start + length)) and not _JOINED.match(
                sight.text, max(0, start - 2), start
            ):
                yield from _number(sight, start, match.end(), form)
    for start in sight.letters_first:
        if (match := _NINO.match(sight.text, start)) and _NINO_LETTERS.match(sight.text, start):
            yield from _apart(sight, start, match.end(), SpanCertainty.LIKELY)
        for form in FORMS[0]:
            if match := form.rest.match(sight.text, start):
                yield from _number(sight, start, match.end(), form)


def _all_forms(length: int) -> list[CompiledForm]:
    return FORMS.get(length, [])


class _Forms:
    """The forms that can come to anything in a text: most countries' numbers need a word, and few texts have it."""

    def __init__(self, sight: ScannedText) -> None:
        self._low = sight.before(len(sight.low), len(sight.low))
        self._by_length: dict[int, list[CompiledForm]] = {}

    def of_length(self, length: int) -> list[CompiledForm]:
        forms = self._by_length.get(length)
        if forms is None:
            forms = [form for form in FORMS.get(length, ()) if form.alone or form.words.search(self._low)]
            self._by_length[length] = forms
        return forms


def _number(sight: ScannedText, start: int, end: int, form: CompiledForm) -> Iterator[TextSpan]:
    if not sight.is_apart(start, end):
        return
    said = form.words.search(sight.before(start, _BEFORE)) or form.words.search(sight.low, end, end + _AFTER)
    certainty = SpanCertainty.SURE if said else form.alone
    # The check comes last: it costs the most.
    if certainty and (said or not _goes_on(sight.text, start, end)) and form.is_valid(sight.text[start:end]):
        yield TextSpan(start, end, "national_id", certainty)


def _goes_on(text: str, start: int, end: int) -> bool:
    """Before or after it comes one more group like its last: a list of numbers."""
    last = _LAST_GROUP.search(text[start:end])
    if last is None:
        return False
    around = (_NEXT_GROUP.match(text, end), _GROUP_BEFORE.search(text[max(0, start - 8) : start]))
    return any(group and len(group[0]) == len(last[0]) and last[0][0] in group[0] for group in around)


def _apart(sight: ScannedText, start: int, end: int, certainty: SpanCertainty) -> Iterator[TextSpan]:
    if sight.is_apart(start, end):
        yield TextSpan(start, end, "national_id", certainty)
