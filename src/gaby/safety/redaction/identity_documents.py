"""Passports and driving licences: their numbers have too many forms to be known without the word before them."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.field_words import folded
from gaby.safety.redaction.sight import Sight
from gaby.safety.redaction.spans import Certainty, Span

_GATE = ("passport", "passeport", "pasaporte", "passaporto", "passaporte", "paspoort", "paszport", "reisepass", "licen",
         "fuhrerschein", "permis de conduire", "patente", "rijbewijs", "ausweis", "carnet", "prawo jazdy")  # fmt: skip
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
_GATES = tuple(folded(word) for word in _GATE)


def find_identity_documents(sight: Sight) -> Iterator[Span]:
    if not any(word in sight.low for word in _GATES):
        return
    for found in _NUMBER.finditer(sight.low):
        if len(_DIGITS.findall(found[1])) >= _FEWEST_DIGITS:
            yield Span(found.start(1), found.end(1), "national_id", Certainty.LIKELY)
