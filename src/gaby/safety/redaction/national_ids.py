"""National identity and tax numbers, each with its own check. A weak check alone makes a number only possible."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gaby.safety.redaction.id_checks import (
    has_valid_aadhaar,
    has_valid_bsn,
    has_valid_cpf,
    has_valid_dni,
    has_valid_fiscal_code,
    has_valid_nino,
    has_valid_nir,
    has_valid_pesel,
    has_valid_ssn,
    has_valid_tax_id,
)
from gaby.safety.redaction.sight import Run, Sight
from gaby.safety.redaction.spans import Certainty, Span

_CONTEXT = 40


class _Number(NamedTuple):
    """A number of digits only: how many, how it is grouped when written with care, and what is said before it."""

    digits: int
    grouped: re.Pattern[str]
    said: re.Pattern[str]
    is_valid: Callable[[str], bool]
    alone: Certainty | None
    """How certain it is without groups and without a word."""


_NUMBERS = (
    _Number(
        9,
        re.compile(r"[0-9]{3}([- ])[0-9]{2}\1[0-9]{4}"),
        re.compile(r"\b(?:ssn|social security|soc sec)\b"),
        has_valid_ssn,
        None,
    ),
    _Number(
        9,
        re.compile(r"[0-9]{4}[. ][0-9]{2}[. ][0-9]{3}"),
        re.compile(r"\b(?:bsn|burgerservicenummer|sofinummer)\b"),
        has_valid_bsn,
        Certainty.POSSIBLE,
    ),
    _Number(
        11,
        re.compile(r"[0-9]{2} [0-9]{3} [0-9]{3} [0-9]{3}"),
        re.compile(r"\b(?:steuer|tax id|idnr|identifikationsnummer|steuerid|tin)"),
        has_valid_tax_id,
        Certainty.POSSIBLE,
    ),
    _Number(
        11,
        re.compile(r"[0-9]{6}-[0-9]{5}"),
        re.compile(r"\bpesel\b"),
        has_valid_pesel,
        Certainty.POSSIBLE,
    ),
    _Number(
        11,
        re.compile(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}"),
        re.compile(r"\bcpf\b"),
        has_valid_cpf,
        Certainty.POSSIBLE,
    ),
    _Number(
        12,
        re.compile(r"[0-9]{4}([- ])[0-9]{4}\1[0-9]{4}"),
        re.compile(r"\b(?:aadhaar|aadhar|uidai)\b"),
        has_valid_aadhaar,
        Certainty.POSSIBLE,
    ),
    _Number(
        15,
        re.compile(r"[0-9] [0-9]{2} [0-9]{2} [0-9]{2} [0-9]{3} [0-9]{3} ?[0-9]{2}"),
        re.compile(r"\b(?:nir|securite sociale|insee|secu)\b"),
        has_valid_nir,
        Certainty.LIKELY,
    ),
)

_FISCAL_CODE = re.compile(r"[A-Za-z]{6}[0-9]{2}[A-Za-z][0-9]{2}[A-Za-z][0-9]{3}[A-Za-z]")
_NINO = re.compile(r"[A-Za-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]")
_CORSICAN = re.compile(r"[12][ .]?[0-9]{2}[ .]?[0-9]{2}[ .]?2[ABab][ .]?[0-9]{3}[ .]?[0-9]{3}[ .]?[0-9]{2}")
_DNI = re.compile(r"(?:[0-9]{8}|[XYZxyz]-?[0-9]{7})-?[A-Za-z]")


def find_national_ids(sight: Sight) -> Iterator[Span]:
    for run in sight.runs:
        for part in run.parts():
            yield from _numbers_at(sight, part)
    for at in sight.letters_first:
        yield from _matching(sight, at, _NINO, has_valid_nino, Certainty.LIKELY)
        yield from _matching(sight, at, _FISCAL_CODE, has_valid_fiscal_code, Certainty.SURE)
    if "2a" in sight.low or "2b" in sight.low:
        for found in _CORSICAN.finditer(sight.text):
            yield from _matching(sight, found.start(), _CORSICAN, has_valid_nir, Certainty.SURE)


def _matching(
    sight: Sight, at: int, form: re.Pattern[str], is_valid: Callable[[str], bool], certainty: Certainty
) -> Iterator[Span]:
    found = form.match(sight.text, at)
    if found and sight.is_apart(at, found.end()) and is_valid(re.sub(r"[ .\-]", "", found[0]).upper()):
        yield Span(at, found.end(), "national_id", certainty)


def _numbers_at(sight: Sight, run: Run) -> Iterator[Span]:
    if run.text[:7].isdigit():
        for at in range(max(0, run.start - 2), run.start + 1):
            yield from _matching(sight, at, _DNI, has_valid_dni, Certainty.LIKELY)
    for number in _NUMBERS:
        if len(run.digits) >= number.digits and (end := _end(sight, run, number)):
            digits = run.digits[: number.digits]
            certainty = _certainty(sight, run, number, end) if number.is_valid(digits) else None
            if certainty:
                yield Span(run.start, end, "national_id", certainty)


def _end(sight: Sight, run: Run, number: _Number) -> int:
    """Where a number of so many digits ends, when one does where the run begins."""
    if len(run.digits) == number.digits:
        end = run.end
    elif found := number.grouped.match(run.text):
        end = run.start + found.end()
    else:
        end = run.start + number.digits
        if not run.text[: number.digits].isdigit():
            return 0
    return end if sight.is_apart(run.start, end) else 0


def _certainty(sight: Sight, run: Run, number: _Number, end: int) -> Certainty | None:
    if number.said.search(sight.before(run.start, _CONTEXT)):
        return Certainty.SURE
    text = run.text[: end - run.start]
    if number.grouped.fullmatch(text):
        return Certainty.LIKELY
    return number.alone if text.isdigit() else None
