"""What a sentence of a runbook is for: calls, words for the requester, work for colleagues, or the cause."""

import re
from collections.abc import Iterator

from gaby.mind.runbooks.book import Selector, Wanted
from gaby.mind.runbooks.conditions import Test, alternatives
from gaby.mind.words import STOP_WORDS, stem, words

_REQUESTERS = r"(?:the )?(?:requester|customer|client|person who asks|writer|them)"
AFTERWARDS = re.compile(
    r"(?:then|after that|afterwards|when (?:it|that) is done|once (?:it is )?done)\b,? ", re.IGNORECASE
)
TELLS = re.compile(
    rf"(?:and |also )?(?:tell|inform|let|explain to|say to|answer) {_REQUESTERS}(?: know)?\b[:,]?(?: that\b)? ?",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"(?:and |also )?(?:ask|have|remind) (the (?:[\w'\-]+ ){0,3}?[\w\-]+|them) "
    r"(to|for|whether|if|which|what|when|where|who|not to)\b ?",
    re.IGNORECASE,
)
HANDS = re.compile(
    r"(?:and |also |otherwise )?(?:hand|pass|escalate|forward|route|assign|give|leave|report) "
    r"(?:it|this|that|the ticket|everything)\b",
    re.IGNORECASE,
)
COLLEAGUES = re.compile(r"\b(?:team|colleagues?|engineers?|second level|support|operations)\b", re.IGNORECASE)
REQUESTER = re.compile(r"(?:the )?(?:requester|customer|client|user|person|writer)\b|them\b", re.IGNORECASE)
SECURITY = re.compile(
    r"\b(?:treat (?:it|this) as (?:a )?(?:security|phishing|an attack)|(?:this|it) is (?:phishing|a security matter|an "
    r"attack|fraud)|security matter)\b",
    re.IGNORECASE,
)
SLOW = re.compile(r"(?:it|this|that)(?: then)? (?:can |may )?takes?\b", re.IGNORECASE)
CONSENT = re.compile(
    r"\b(?:before (?:that|this|you)|only (?:after|once|when|if)|(?:(?:has|have|needs?) to|must) "
    r"(?:agree|confirm|approve|check)|(?:agrees|confirms|approves|checks) first|first checks?)\b",
    re.IGNORECASE,
)
CAUSE = re.compile(r"(?:\*\*)?(?:the )?cause(?:\*\*)?(?::(?:\*\*)?| is(?: that)?) ", re.IGNORECASE)
IF = re.compile(r"(?:\*\*)?(?:if|when|where|in case)\b(?:\*\*)? ", re.IGNORECASE)
OTHERWISE = re.compile(
    r"(?:\*\*)?(?:otherwise|else|in all other cases|in any other case|if (?:none|nothing|no condition)|if all (?:of "
    r"this )?is)\b",
    re.IGNORECASE,
)
_TICKED = re.compile(r"`([^`\n]{1,200})`")
_SEPARATOR = re.compile(r"\s*(?::|=|,| is| as| set to| of)?\s*\Z")
_IS = r"\s*(?::|=|is|as|of)?\s*"
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"{_IS}(?:the )?(?:requester|customer)'s (?:e-?mail )?address", re.IGNORECASE), "@requester"),
    (re.compile(rf"{_IS}(?:the )?(?:requester|customer)'s domain", re.IGNORECASE), "@domain"),
    (re.compile(rf"{_IS}(?:this|the) ticket\b", re.IGNORECASE), "@ticket"),
    (re.compile(rf"{_IS}(true|false|-?[0-9]{{1,12}})\b", re.IGNORECASE), ""),
)
_SELECTS = re.compile(
    r"\bfor (each|every|all|any|the|that|this|one)(?: of)?(?: the| their| these)? ([a-z][a-z\- ]{1,40}?)"
    r"(?= whose\b| with\b| that\b| which\b| in\b|[,.;:)]| `|\s*\Z)(?:\s*(whose|with|that|which|in)\b(.*))?",
    re.IGNORECASE | re.DOTALL,
)
_EXTREME = re.compile(
    r"the (highest|largest|most|newest|latest|last|lowest|smallest|oldest|first|fewest) `([^`\n]{1,100})`",
    re.IGNORECASE,
)
_HIGH = frozenset({"highest", "largest", "most", "newest", "latest", "last"})


def condition_end(text: str) -> int:
    """Where the `if` ends: at the first colon, or else at the first comma that begins something new."""
    comma = 0
    ticked = False
    for place, letter in enumerate(text):
        ticked ^= letter == "`"
        if ticked:
            continue
        if letter == ":" and text[place + 1 : place + 2] in {"", " ", "*"}:
            return place
        goes_on = re.match(r",\s*(?:and|or|whose|then and)\b|,\s*`", text[place : place + 12], re.IGNORECASE)
        if letter == "," and not comma and not goes_on:
            comma = place
    return comma or len(text)


def wanted(sentence: str, tools: frozenset[str], citation: str) -> Iterator[Wanted]:
    """The calls that a sentence names, each with what is said about its arguments up to the next one."""
    marks = [found for found in _TICKED.finditer(sentence) if tool_named(found[1], tools)]
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(sentence)
        rest = sentence[mark.end() : end]
        selector = _selector(rest)
        told = rest[: rest.lower().find(" for ")] if selector and " for " in rest.lower() else rest
        yield Wanted(
            tool_named(mark[1], tools),
            tuple(_given(told)) or tuple(_given(rest)) if not selector else tuple(_given(told)),
            selector,
            plain(sentence),
            citation,
            hands_over=HANDS.match(sentence) is not None,
        )


def tool_named(words_in_ticks: str, tools: frozenset[str]) -> str:
    """`list_logins`, `list_logins()` and `directory.list_logins` name a tool; nothing when there is none."""
    name = words_in_ticks.strip().removesuffix("()")
    if name in tools:
        return name
    last = name.rpartition(".")[2]
    return last if last in tools else ""


def plain(sentence: str) -> str:
    return " ".join(sentence.replace("**", "").split())


def _given(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of an argument and a value: both in backticks, or the value in words that everybody uses."""
    marks = list(_TICKED.finditer(text))
    place = 0
    while place < len(marks):
        name, end = marks[place][1].strip(), marks[place].end()
        following = marks[place + 1] if place + 1 < len(marks) else None
        if phrase := _phrase(text, end, following.start() if following else len(text)):
            yield name, phrase
        elif following and _SEPARATOR.match(text[end : following.start()]):
            yield name, following[1].strip()
            place += 1
        place += 1


def _phrase(text: str, start: int, end: int) -> str:
    for pattern, meaning in _PHRASES:
        if found := pattern.match(text, start, end):
            return meaning or found[1].lower()
    return ""


def _selector(text: str) -> Selector | None:
    found = _SELECTS.search(text)
    if found is None or REQUESTER.match(found[2].strip()):
        return None
    nouns = frozenset(stem(word) for word in words(found[2]) if word not in STOP_WORDS)
    rest = (found[4] or "").strip(" .;)")
    extreme = _EXTREME.search(rest)
    tests: tuple[Test, ...] = ()
    if rest and not extreme and (groups := alternatives(rest)):
        tests = tuple(each for each in groups[0] if isinstance(each, Test))
    side = None if extreme is None else "highest" if extreme[1].lower() in _HIGH else "lowest"
    each = found[1].lower() in {"each", "every", "all", "any"}
    return Selector(nouns, tests, side, extreme[2] if extreme else "", each)
