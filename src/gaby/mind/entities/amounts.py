"""Amounts: money, quantities with a unit, and versions."""

import re
from collections.abc import Iterator

from gaby.mind.entities.entity import Entity, said_before

_CURRENCIES = "USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|INR|CNY|BRL|MXN|ZAR|SGD|HKD|AED|TRY|ILS|KRW"
_SYMBOLS = {"€": "EUR", "£": "GBP", "$": "USD", "¥": "JPY", "₹": "INR", "us$": "USD", "a$": "AUD", "c$": "CAD"}
_WORDS = {"euro": "EUR", "dollar": "USD", "pound": "GBP", "franc": "CHF", "buck": "USD"}
_NUMBER = r"[0-9]{1,3}(?:[,. '][0-9]{3}){1,5}(?:[.,][0-9]{1,2})?|[0-9]{1,12}(?:[.,][0-9]{1,4})?"
_MONEY_BEFORE = re.compile(
    rf"(?<![\w.,])(?:((?:US|A|C)?\$|[€£¥₹])|\b({_CURRENCIES})) ?((?:{_NUMBER}))( ?[kKmM]\b)?(?![\w]|[.,][0-9])"
)
_MONEY_AFTER = re.compile(
    rf"(?<![\w.,#\-])((?:{_NUMBER}))( ?[kK])? ?(?:([€£$¥₹])|({_CURRENCIES})\b|(euro|dollar|pound|franc|"
    rf"buck)s?\b)(?![\w])",
    re.IGNORECASE,
)
_UNITS = {
    unit: plain
    for plain, units in {
        "%": "% percent",
        "byte": "byte bytes",
        "KB": "kb kib kilobytes",
        "MB": "mb mib megabytes",
        "GB": "gb gib gigabytes gigs gig",
        "TB": "tb tib terabytes",
        "Mbps": "mbps mbit",
        "Gbps": "gbps gbit",
        "millisecond": "ms msec millisecond milliseconds",
        "second": "s sec secs second seconds",
        "minute": "m min mins minute minutes",
        "hour": "h hr hrs hour hours",
        "day": "d day days",
        "week": "week weeks",
        "month": "month months",
        "year": "year years yrs",
        "MHz": "mhz",
        "GHz": "ghz",
        "kg": "kg",
        "km": "km",
        "degree": "°c °f",
        "user": "user users people colleagues employees customers clients agents staff",
        "seat": "seat seats license licenses licence licences",
        "device": "device devices tills terminals printers laptops machines servers hosts nodes pods instances",
        "request": "request requests calls rps qps rpm",
        "row": "row rows record records entries lines",
        "item": "item items orders invoices tickets emails messages files pages products jobs events tasks accounts",
        "connection": "connection connections sessions",
        "error": "error errors failures",
        "time": "times attempts retries tries",
    }.items()
    for unit in units.split()
}
_ONE_LETTER = frozenset("md")
_QUANTITY = re.compile(
    rf"(?<![\w.,:#/$€£\-])({_NUMBER})(?: ?(%)|( ?)(°[CcFf]|[A-Za-z]{{1,12}}))(?![\w%]|-\w)",
)
_STATUS = re.compile(r"[45][0-9]{2}")
_VERSION_NUMBER = r"[0-9]{1,5}(?:\.[0-9]{1,6}){1,4}(?:[-+][A-Za-z0-9][A-Za-z0-9.]{0,30})?"
_VERSION = re.compile(rf"(?<![\w.\-/])(?:[vV][0-9]{{1,4}}|[vV]?{_VERSION_NUMBER})(?![\w\-]|[.,][0-9])")
_SAYS_VERSION = re.compile(
    r"\b(?:version|ver\.?|release|build|firmware|revision|rev\.?|chrome|firefox|safari|edge|ios|ipados|android|windows|"
    r"macos|ubuntu|debian|python|node|java|php|postgres|postgresql|mysql|redis|nginx|kubernetes|docker|tls|"
    r"outlook|office|"
    r"app|agent|sdk|api|plugin|driver|client)(?: version)?[ :=]{1,2}\Z",
    re.IGNORECASE,
)
_DOTTED = 2
"""As many dots make a version without a word before it; three make an address in a network as likely."""


def find_amounts(text: str) -> Iterator[Entity]:
    for match in _MONEY_BEFORE.finditer(text):
        currency = _SYMBOLS[match[1].lower()] if match[1] else match[2]
        yield _money(match, match[3], match[4], currency)
    for match in _MONEY_AFTER.finditer(text):
        word = match[5] and _WORDS[match[5].lower()]
        yield _money(match, match[1], match[2], _SYMBOLS.get(match[3] or "") or word or match[4].upper())
    yield from _quantities(text)
    for match in _VERSION.finditer(text):
        number = re.split(r"[-+]", match[0])[0]
        if match[0][0] in "vV" or number.count(".") == _DOTTED or said_before(_SAYS_VERSION, text, match.start()):
            yield Entity("version", match[0], match.start(), match.end(), match[0].lstrip("vV"))


def plain_number(text: str) -> str:
    """`1.234,56`, `1,234.56` and `1234.56` are one number. Three digits after the only mark are thousands."""
    digits = text.replace(" ", "").replace("'", "")
    marks = [mark for mark in digits if mark in ".,"]
    if not marks:
        return digits
    last = max(digits.rfind("."), digits.rfind(","))
    is_thousands = len(digits) - last - 1 == 3 and len(set(marks)) == 1
    whole = digits[:last].replace(".", "").replace(",", "")
    return whole + digits[last + 1 :] if is_thousands else f"{whole}.{digits[last + 1 :]}"


def _money(match: re.Match[str], number: str, times: str | None, currency: str) -> Entity:
    # What "12k" is exactly, nobody said.
    normal = None if times else f"{plain_number(number)} {currency}"
    return Entity("money", match[0], match.start(), match.end(), normal, currency)


def _quantities(text: str) -> Iterator[Entity]:
    for match in _QUANTITY.finditer(text):
        unit = match[2] or match[4].lower()
        if unit in {"error", "errors"} and _STATUS.fullmatch(match[1]):
            continue
        # "5 m" may be metres, "5 d" may be anything; attached to its number a letter is a unit.
        if (plain := _UNITS.get(unit)) and not (unit in _ONE_LETTER and match[3]):
            yield Entity("quantity", match[0], match.start(), match.end(), plain_number(match[1]), plain)
