"""Passports and driving licences: their numbers have too many forms to be known without the word before them."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_WORDS = """
passport passports passeport pasaporte passaporto passaporte paspoort paszport reisepass reisepassnummer license licence
driverslicense fuhrerschein fuhrerscheinnummer permis patente rijbewijs rijbewijsnummer ausweis ausweisnummer
personalausweis personalausweisnummer carnet prawo passnummer passportnummer
"""
_GATE = frozenset(_WORDS.split())
_DOCUMENT = (
    r"(?:(?:pass(?:port|eport|aporto|aporte)|pasaporte|paspoort|paszport|reisepass|personalausweis|ausweis)(?:nummer|nr)?|"
    r"(?:driver'?s?'?|driving) ?licen[cs]e|fuhrerschein(?:nummer|nr)?|permis de conduire|patente(?: di guida)?|"
    r"carnet de conducir|rijbewijs(?:nummer)?|prawo jazdy)"
)
_NUMBER = re.compile(
    rf"{_DOCUMENT}(?: ?(?:number|no|nr|num|numero|nummer|numer|n[°º]|#|id))?\.?(?: (?:is|ist|est|es|e|to|lautet))?"
    r"[ ]?[:=#]?\s{0,3}"
    r"([a-z0-9][a-z0-9\-]{4,18}[a-z0-9])(?![\w\-])"
)
_DIGITS = re.compile(r"[0-9]")
_FEWEST_DIGITS = 3


def find_identity_documents(sight: ScannedText) -> Iterator[TextSpan]:
    if sight.words.isdisjoint(_GATE):
        return
    for match in _NUMBER.finditer(sight.low):
        if len(_DIGITS.findall(match[1])) >= _FEWEST_DIGITS:
            yield TextSpan(match.start(1), match.end(1), "national_id", SpanCertainty.LIKELY)
