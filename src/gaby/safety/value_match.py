"""Whole-value matches: whether somebody's words contain exactly this value, and not a piece of a longer one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from gaby.safety.arguments import canonical_number
from gaby.safety.exfiltration import find_carriers
from gaby.safety.verdicts import Quote

_JOINS = frozenset("@.-+/:=%~#&?_\\'’!$*^{|}")
"""Between two letters or digits these make one longer value of both sides."""
_OPENING_QUOTES = frozenset("'\"`‘“«[(<")
_NAMED = re.compile(r"(?:#|\b(?:id|ids|number|no|nr|ticket|order|invoice|charge|case)\b[.:#]?)\s*$", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")
_POSSESSIVE = re.compile(r"['’]s(?![^\W_])")
_DENIED = re.compile(r"\b(?:no|not|non|never|without|nor|neither|off|disable|disabled|remove|stop)\b|n't\b")
_FORBIDS = re.compile(r"\b(?:not|never|without|except|nor|neither|avoid|ignore|skip)\b|n['’]t\b")
_TELLING = 3
"""Shorter values, and small numbers, appear in texts by chance."""
_AROUND_GAP = r"""([^"'`“”‘’«»{}\n]{0,80})"""
_TEMPLATE = re.compile(rf"""["'`“‘«]{_AROUND_GAP}\{{[A-Za-z][A-Za-z0-9_ ]{{0,39}}\}}{_AROUND_GAP}["'`”’»]""")
_FILLER = re.compile(r"[^\W\d_](?:(?:[^\W\d_]|[ ,'’&-]|\.(?= |$)){0,79}(?<![ ,'’&-]))?")
"""A few words: no digits, no host, nothing in brackets."""
_FRAME = re.compile(r"[^\W\d_]{3}")
_MOST_TEMPLATES = 20
_EXCERPT = 60
_NEARBY = 60


@dataclass(frozen=True)
class SearchableText:
    """A text that can be searched for whole values."""

    source: str
    folded: str
    quantities: frozenset[str]
    templates: tuple[tuple[str, str], ...] = ()
    """What stands before and behind the gap of each quoted template: `'Dinner at {restaurant}'`. Words on at least one
    side, and not one that is to be avoided."""


def words(source: str, text: str) -> SearchableText:
    folded = same_case(text)
    templates = [
        (match[1], match[2])
        for match in islice(_TEMPLATE.finditer(text), _MOST_TEMPLATES)
        if (_FRAME.search(match[1]) or _FRAME.search(match[2])) and not _is_forbidden(folded, match.start())
    ]
    return SearchableText(source, folded, frozenset(_numbers(text)), tuple(templates))


def same_case(text: str) -> str:
    """The letters A to Z in one case. Folding more would make one name of two: straße and strasse, K and the Kelvin."""
    # Bytes know the case of these letters only. Lone surrogates come from JSON.
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def says(said: SearchableText, value: str) -> bool:
    """Whether the words name this value as a whole, and not as something to keep away from. Upper and lower case are
    the same; nothing else is."""
    wanted = same_case(value)
    places = occurrences(said.folded, wanted) if wanted and wanted == wanted.strip() else ()
    return any(
        _stands_alone(said.folded, start, start + len(wanted)) and not _is_forbidden(said.folded, start)
        for start in places
    )


def says_literal(said: SearchableText, argument: str, value: str) -> bool:
    """Whether the words set this argument by its name: `grant_admin: true`, or for true the bare name, not denied."""
    name = same_case(argument.rpartition(".")[2].removesuffix("[]"))
    spelled = r"[\s_-]{0,2}".join(map(re.escape, name.split("_")))
    set_to = rf"(?<![\w.-]){spelled}[`'\"]?\s{{0,3}}(?:[:=]|is|to)\s{{0,3}}[`'\"]?{value}(?![\w-])"
    if re.search(set_to, said.folded):
        return True
    bare = re.search(rf"(?<![\w.-]){spelled}(?![\w-])(?!\s{{0,3}}[:=])", said.folded) if value == "true" else None
    return bare is not None and _DENIED.search(said.folded, max(0, bare.start() - 40), bare.start()) is None


def fills_template(said: SearchableText, value: str) -> bool:
    """Whether the value is a template of these words with a few harmless words in its gap, and nothing to follow."""
    for before, after in said.templates:
        filler = value[len(before) : len(value) - len(after)]
        if value == f"{before}{filler}{after}" and _FILLER.fullmatch(filler) and not find_carriers(value):
            return True
    return False


def says_quantity(said: SearchableText, value: str) -> bool:
    """Whether the words give this number, however it is written: `1,200.50`, `1200.5`."""
    return value in said.quantities


def _is_forbidden(text: str, start: int) -> bool:
    """`Do not touch r-3003`: looked for in the same sentence, a few words before the value."""
    nearby = max(0, start - _NEARBY)
    sentence = max(text.rfind(end, nearby, start) for end in (". ", "! ", "? ", "; ", "\n"))
    return _FORBIDS.search(text, max(nearby, sentence), start) is not None


def quote(source: str, text: str, value: str) -> Quote | None:
    """The words around the first place where the value appears, whole or not."""
    wanted = same_case(value.strip())
    start = same_case(text).find(wanted)
    if not wanted or start < 0:
        return None
    before, after = max(0, start - _EXCERPT), min(len(text), start + len(wanted) + _EXCERPT)
    excerpt = " ".join(text[before:after].split())
    return Quote(source, f"{'…' if before else ''}{excerpt}{'…' if after < len(text) else ''}")


def occurrences(text: str, value: str) -> Iterator[int]:
    """Where the value stands in the text. One place may reach into the next."""
    start = text.find(value)
    while start >= 0:
        yield start
        start = text.find(value, start + 1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    if _joined(text, start - 1, -1) or _joined(text, end, 1):
        return False
    occurrence = text[start:end]
    if len(occurrence) > _TELLING or (len(occurrence) == _TELLING and not occurrence.isdigit()):
        return True
    quoted = start > 0 and text[start - 1] in _OPENING_QUOTES
    return quoted or _NAMED.search(text, max(0, start - 12), start) is not None


def _joined(text: str, at: int, step: int) -> bool:
    """Whether the character next to a match makes it part of something longer."""
    if not 0 <= at < len(text):
        return False
    if text[at].isalnum() or text[at] == "_":
        return True
    beyond = at + step
    if not 0 <= beyond < len(text):
        return False
    if step == 1 and _POSSESSIVE.match(text, at):
        return False
    if text[at] == ",":
        return text[beyond].isdigit() and text[at - step].isdigit()
    return text[at] in _JOINS and text[beyond].isalnum()


def _numbers(text: str) -> Iterator[str]:
    # Match by match, so that a long text does not keep other threads waiting; each number is read once.
    for number in {match[0] for match in _NUMBER.finditer(text)}:
        yield canonical_number(float(number.replace(",", "")))
