"""Dates of birth and medical record numbers: only where a word says that they are."""

import re
from collections.abc import Iterator, Mapping

from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mai|okt|dez|fev|avr|jui|aou|ene|abr|ago|dic|gen|mag|giu|lug|"
    r"set|ott|out|maa|mei|sty|lut|kwi|maj|cze|lip|sie|wrz|paz|lis|gru)[a-z]{0,8}\.?"
)
_DATE = (
    r"(?:(?:18|19|20)[0-9]{2}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/. ][0-9]{1,2}[-/. ](?:18|19|20)?[0-9]{2}|"
    rf"[0-9]{{1,2}}(?:st|nd|rd|th|er|\.)? (?:of |de |d')?{_MONTH},? (?:de |del )?(?:18|19|20)[0-9]{{2}}|"
    rf"{_MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?,? (?:18|19|20)[0-9]{{2}})(?![0-9])"
)
_BORN = re.compile(rf"[a-z _]{{0,12}}[^0-9a-z]{{0,6}}(?:(?:is|was|on|am|le|el|of) ){{0,2}}({_DATE})")
_SAYS_BORN = """
birth birthdate birthday dob born geburtsdatum geburtstag geburt geboren nacimiento naissance bday nascita nascimento
geboortedatum urodzenia urodzony urodzona nacido nacida nascido nascida fodd fodt fodelsedatum fodselsdato
"""
_BORN_WORDS = {word: (word,) for word in _SAYS_BORN.split()} | {
    "nato": ("nato il",),
    "nata": ("nata il",),
    "ne": ("ne le",),
    "nee": ("nee le",),
}
"""By the word that must be in a text, what to look for."""
_RECORD = re.compile(
    r"[a-z _]{0,12}?[^0-9a-z]{0,6}(?:(?:is|number|no|id)[^0-9a-z]{1,3}){0,2}((?:[a-z]{1,3}-?)?[0-9]{5,12})(?![0-9])"
)
_RECORD_WORDS = {
    "mrn": ("mrn",),
    "medical": ("medical record",),
    "patient": ("patient id", "patient_id", "patient number"),
    "health": ("health plan",),
    "medicare": ("medicare",),
}


def find_birth_dates(sight: ScannedText) -> Iterator[TextSpan]:
    for start, end in _after(sight, _BORN_WORDS, _BORN):
        yield TextSpan(start, end, "birth_date", SpanCertainty.LIKELY)


def find_medical_ids(sight: ScannedText) -> Iterator[TextSpan]:
    for start, end in _after(sight, _RECORD_WORDS, _RECORD):
        yield TextSpan(start, end, "medical_id", SpanCertainty.LIKELY)


def _after(
    sight: ScannedText, words: Mapping[str, tuple[str, ...]], form: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    for phrase in (phrase for word in words.keys() & sight.words for phrase in words[word]):
        at = sight.low.find(phrase)
        while at >= 0:
            after = at + len(phrase)
            if match := form.match(sight.low, after):
                yield match.span(1)
            at = sight.low.find(phrase, after)
