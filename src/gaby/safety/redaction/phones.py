"""Telephone numbers: international ones by their plus, national ones by their grouping or by the words before them."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.phone_formats import is_written_as_phone
from gaby.safety.redaction.scanned_text import DigitRun, ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_INTERNATIONAL = re.compile(r"\+(?<![\w+]\+) ?\(?[1-9](?:[ \-./()]{0,3}[0-9]){6,14}(?:(?![0-9A-Za-z])|(?=x[0-9]))")
_DOUBLE_ZERO = re.compile(r"00[ \-./]?[1-9](?:[ \-./()]{0,3}[0-9]){8,12}(?![0-9])")
_NORTH_AMERICA = re.compile(r"(?:1[ .\-])?[2-9][0-9]{2}(?:\) ?|[ .\-])[2-9][0-9]{2}[ .\-][0-9]{4}(?![0-9])")
_TRUNK_ZERO = re.compile(r"0[1-9][0-9]{0,4}(?:\) ?| ?[/\-] ?|[ .])[0-9]{2,8}(?:[ .\-][0-9]{2,6}){0,4}(?![0-9])")
_ONE_GROUP = re.compile(r"[0-9]{7,15}(?![0-9])")
_SAYS_PHONE = re.compile(
    r"(?:\b(?:phone|tel|telephone|telefono|telefon|telefonnummer|telephon|mobile|mobil|movil|cell|cellphone|handy|call|"
    r"called|reach me|reached|my number|number is|ring|dial|sms|text|whatsapp|fax|rufnummer|portable|celular|"
    r"phone_number|mobile_number|cel|fone|telefone|komorka|komorkowy|mobiel|telefoon|gsm|desk|office|home|work|"
    r"contact number|answering at|messages to|unter|erreichbar)\b)[^0-9\n]{0,16}[(]?\Z|"
    r"\b(?:phone|tel|telephone|telefono|telefon|mobile|mobil|fax|cell|telefone|numero)[^0-9\n]{0,6}\n[ \t]{0,8}[(]?\Z"
)
_SAYS_NUMBER = re.compile(
    r"(?:\b(?:order|invoice|ticket|ref|reference|case|id|number|no|nr|tracking|sku|po|serial|part|account|acct|"
    r"transaction|trx|request|build|version|bestellung|rechnung|commande|facture|pedido|factura|parcel|article|item)"
    r"|#)[ :.#=\"']{0,4}\Z"
)
_EXTENSION = re.compile(r" {0,2}(?:x|ext\.?|extension|durchwahl|poste|app\.) ?[0-9]{1,6}(?![0-9A-Za-z])", re.IGNORECASE)
_SAYS_PHONE_AFTER = re.compile(r"[ \-]{0,2}\(?(?:office|fax|mobile|cell|home|work|direct|mobil|tel)\b")
_ANY_GROUPS = re.compile(r"[0-9 \-./()]+")
_CONTEXT = 28


def find_phones(sight: ScannedText) -> Iterator[TextSpan]:
    for match in _INTERNATIONAL.finditer(sight.text):
        yield TextSpan(match.start(), _with_extension(sight, match.end()), "phone", SpanCertainty.SURE)
    for run in sight.runs:
        end = run.start
        for part in run.parts():
            if part.start >= end and (span := _national(sight, part, is_whole=part.text == run.text)):
                end = span.end
                yield span


def _national(sight: ScannedText, run: DigitRun, *, is_whole: bool) -> TextSpan | None:
    grouped = _grouped(run.text)
    match = grouped or _ONE_GROUP.match(run.text) or _loosely_grouped(run)
    if match is None:
        return None
    before = sight.before(run.start, _CONTEXT)
    says_phone = _SAYS_PHONE.search(before) or _SAYS_PHONE_AFTER.match(sight.low, run.start + match.end())
    is_written = grouped or (is_whole and is_written_as_phone(run.text))
    if says_phone or (is_written and not _SAYS_NUMBER.search(before)):
        return _span(sight, run.start, match)
    return None


def _grouped(text: str) -> re.Match[str] | None:
    if text.startswith("0"):
        if match := _DOUBLE_ZERO.match(text):
            return match
        match = _TRUNK_ZERO.match(text)
        return match if match and 9 <= _count(match[0]) <= 12 else None
    return _NORTH_AMERICA.match(text)


def _loosely_grouped(run: DigitRun) -> re.Match[str] | None:
    return _ANY_GROUPS.match(run.text) if len(run.digits) <= 15 else None


def _span(sight: ScannedText, start: int, match: re.Match[str]) -> TextSpan | None:
    end = _with_extension(sight, start + match.end())
    if not sight.is_apart(start, end):
        return None
    if ")" in match[0] and sight.text[start - 1 : start] == "(":
        start -= 1
    return TextSpan(start, end, "phone", SpanCertainty.LIKELY)


def _with_extension(sight: ScannedText, end: int) -> int:
    match = _EXTENSION.match(sight.text, end)
    return match.end() if match else end


def _count(text: str) -> int:
    return sum(map(text.count, "0123456789"))
