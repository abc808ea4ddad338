"""Numbers of seven or more digits, whatever the words around them: somebody can be asked to call one or to pay to it.

Dates, times, sums of money, versions, UUIDs and hashes are none.
"""

import re
from collections.abc import Iterator

_SHORTEST = 7
_SEPARATORS = b" -./()"
_SHAPE = bytes(48 if 48 <= byte <= 57 else 115 if byte in _SEPARATORS else 32 for byte in range(256))
_RUN = re.compile(rb"0(?:s{0,3}0){6,}+")
_YEAR = r"(?:19|20)[0-9]{2}"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12][0-9]|3[01])"
_CURRENCY = r"(?:[$€£¥₹₽₺₩]|[A-Z]{3}\b|kr\b|zł)"
_THOUSANDS = r"[1-9][0-9]{0,2}(?:[ .'][0-9]{3}){2,4}"
_SUM = rf"(?:{_THOUSANDS}|[1-9][0-9]{{0,6}})(?:[.,][0-9]{{1,2}})?"
_HARMLESS = re.compile(
    rf"(?<![0-9])(?:{_YEAR}([-/.]){_MONTH}\1{_DAY}|(?:0?[1-9]|[12][0-9]|3[01])([-/.])(?:0?[1-9]|1[0-2])\2{_YEAR}|"
    rf"(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12][0-9]|3[01])/{_YEAR}|{_YEAR}{_MONTH}{_DAY}(?:[T_\-]?[0-2][0-9][0-5][0-9](?:[0-5][0-9])?)?)"
    r"(?:[T ][0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?)?(?![0-9])|"
    r"(?<![0-9:])[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?(?![0-9:])|"
    rf"{_CURRENCY} ?{_SUM}(?![0-9]|[ \-./()][0-9])|(?<![0-9])(?<![0-9][ \-./()]){_SUM} ?{_CURRENCY}|"
    r"(?<![0-9a-fA-F])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9a-zA-Z])|"
    r"\b0x[0-9a-fA-F]{8}\b"
)
_HASH = re.compile(r"(?<![0-9a-zA-Z])[0-9a-fA-F]{12,128}+(?![0-9a-zA-Z])")
_VERSION = re.compile(r"(?<![0-9./()\-])[0-9]{1,6}(?:\.[0-9]{1,6}){1,3}+(?![0-9]|[./()\-]+[0-9])")
_DIGITS = re.compile(r"[0-9]+")
_YEARS = re.compile(rf"{_YEAR}(?:[ \-/]{{1,3}}{_YEAR})*")
_LONGEST_IN_HASH = 9


def find_long_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each begins and ends, and its digits."""
    if not _RUN.search(_shape(text)):
        return
    rest = _HASH.sub(_without_hash, _VERSION.sub(_without_version, _HARMLESS.sub(_blanked, text)))
    for run in _RUN.finditer(_shape(rest)):
        yield from _numbers(rest, run.start(), run.end())


def _shape(text: str) -> bytes:
    return text.encode("ascii", "replace").translate(_SHAPE)


def _blanked(match: re.Match[str]) -> str:
    return "_" * len(match[0])


def _without_hash(match: re.Match[str]) -> str:
    digits = _DIGITS.findall(match[0])
    letters = len(match[0]) - sum(map(len, digits))
    is_hash = letters >= 3 and max(map(len, digits), default=0) <= _LONGEST_IN_HASH
    return _blanked(match) if is_hash else match[0]


def _without_version(match: re.Match[str]) -> str:
    """`10.0.19045.3803`. The groups of a telephone number have more than one digit."""
    return _blanked(match) if any(len(part) == 1 for part in match[0].split(".")) else match[0]


def _numbers(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    groups = [(start + match.start(), start + match.end()) for match in _DIGITS.finditer(text[start:end])]
    long = [group for group in groups if group[1] - group[0] >= _SHORTEST]
    if long:
        # A number that stands whole in the text is that number, whatever shorter ones stand beside it.
        yield from ((first, last, text[first:last]) for first, last in long)
    elif not _YEARS.fullmatch(text, start, end):
        yield start, end, "".join(text[first:last] for first, last in groups)
