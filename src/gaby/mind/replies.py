"""Words for the requester and for colleagues: sentences of the runbook with the values that were found, each cited.

Values come only from records that are the requester's or nobody's in particular.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from gaby.mind.investigation import Diagnosis, Investigation
from gaby.mind.records import Record, called, short, spelled
from gaby.mind.runbooks import Advice
from gaby.mind.runbooks.comparing import moment
from gaby.mind.runbooks.conditions import Test
from gaby.mind.runbooks.wording import ASKS, REQUESTER, TELLS
from gaby.mind.situations import SeenCall
from gaby.mind.summaries import CitedSentence
from gaby.mind.words import terms, words

_TICKED = re.compile(r"`([^`\n]{1,200})`")
_LONG = 160
_MANY = 3
_AHEAD = 40
"""Characters before a field that say of what it is."""
_TEAM = re.compile(
    r"\bto (the (?:[\w\-]+ ){0,3}?(?:team|engineers?|colleagues?|department|desk|office)|(?:the )?second level|"
    r"(?:the )?[\w\-]+ (?:team|operations))\b",
    re.IGNORECASE,
)
_YOURS = re.compile(r"\bthe (?:requester|customer|client)'s\b|\btheir\b", re.IGNORECASE)
_OR_TO = re.compile(r"\b(or|and) to (?=[a-z])")
_THEY = re.compile(r"\bthey\b")
_OPENINGS = {
    "to": "Please",
    "not to": "Please do not",
    "for": "Please send us",
    "whether": "Please tell us whether",
    "if": "Please tell us if",
}


def reply(investigation: Investigation, diagnosis: Diagnosis) -> list[CitedSentence]:
    """What is the case, what was done, what is left to do, and who does it."""
    branch = diagnosis.branch
    remedies = investigation.remedies(diagnosis)
    found = [
        _said(_without_opening(each.text), each, investigation, diagnosis) for each in branch.told if not each.later
    ]
    if not found and branch.cause:
        found.append(_said(branch.cause, Advice(branch.cause, branch.citation), investigation, diagnosis))
    later = [each for each in branch.told if each.later]
    if remedies:
        found += [_afterwards(each, investigation, diagnosis, remedies) for each in later]
        if not later:
            found.append(CitedSentence(_what_was_done(remedies), tuple(call.citation for call in remedies)))
    found += [_said(_asked(each.text), each, investigation, diagnosis, short_of=True) for each in branch.asked]
    found += _waiting(investigation, branch.citation)
    # What was put right is handed to nobody, unless a note went to them.
    notes_left = [call for call in investigation.changes if call.outcome == "done" and call not in remedies]
    if branch.handed and (notes_left or not remedies):
        found.append(_handed(branch.handed[0], notes_left))
    return [each for each in found if each.text]


def notes(investigation: Investigation, diagnosis: Diagnosis) -> list[CitedSentence]:
    """For colleagues: the cause, what shows it, and what the runbook says besides."""
    branch = diagnosis.branch
    calls = _shown_by(diagnosis)
    found = [CitedSentence(f"{branch.cause or diagnosis.book.title}", (branch.citation, *calls))]
    found += [CitedSentence(text, (citation,)) for text, citation in _evidence(diagnosis)]
    found += [
        CitedSentence(_filled(each.text, investigation, diagnosis)[0], (each.citation,))
        for each in (*branch.details, *branch.handed)
    ]
    return found


def note_text(investigation: Investigation, diagnosis: Diagnosis) -> str:
    """The same on one line, for a tool that takes a reason or a note."""
    told = [each.text for each in notes(investigation, diagnosis)[: 1 + _MANY]]
    return " ".join(dict.fromkeys(told))


def _said(
    text: str, advice: Advice, investigation: Investigation, diagnosis: Diagnosis, *, short_of: bool = False
) -> CitedSentence:
    filled, used = _filled(text, investigation, diagnosis)
    # What the requester should do follows from the runbook; what is the case follows from what was seen, too.
    seen = () if short_of and not used else used or _shown_by(diagnosis)
    return CitedSentence(_sentence(filled), tuple(dict.fromkeys((advice.citation, *seen))))


def _afterwards(
    advice: Advice, investigation: Investigation, diagnosis: Diagnosis, remedies: Sequence[SeenCall]
) -> CitedSentence:
    text, used = _filled(_without_opening(advice.text), investigation, diagnosis)
    cited = (advice.citation, *(call.citation for call in remedies), *used)
    return CitedSentence(_sentence(text), tuple(dict.fromkeys(cited)))


def _without_opening(text: str) -> str:
    return TELLS.sub("", text, count=1).strip(" \"'“”")


def _asked(text: str) -> str:
    """`Ask the requester to check their phone` as `Please check your phone`."""
    found = ASKS.match(text)
    if found is None:
        return text
    rest = text[found.end() :]
    whom, how = found[1], found[2].lower()
    if not REQUESTER.match(whom):
        return f"Please ask {whom[0].lower()}{whom[1:]} {how} {rest}"
    rest = _YOURS.sub("your", rest)
    if how == "to":
        rest = _OR_TO.sub(r"\1 ", rest)
    return f"{_OPENINGS.get(how, f'Please tell us {how}')} {_THEY.sub('you', rest)}"


def _waiting(investigation: Investigation, citation: str) -> list[CitedSentence]:
    waits = [call for call in investigation.changes if call.outcome == "asked"]
    if not waits:
        return []
    text = f"The next step ({_named(waits)}) has to be confirmed by one of us first."
    return [CitedSentence(text, (citation, *(call.citation for call in waits)))]


def _handed(advice: Advice, done: Sequence[SeenCall]) -> CitedSentence:
    team = _TEAM.search(advice.text)
    text = f"It goes to {team[1]}." if team else "A colleague takes it from here."
    return CitedSentence(text, (advice.citation, *(call.citation for call in done)))


def _what_was_done(calls: Sequence[SeenCall]) -> str:
    return f"This was done: {_named(calls)}."


def _named(calls: Sequence[SeenCall]) -> str:
    return ", ".join(dict.fromkeys(" ".join(words(short(call.tool))) for call in calls))


def _shown_by(diagnosis: Diagnosis) -> tuple[str, ...]:
    return tuple(dict.fromkeys(record.call.citation for record in diagnosis.by))[:_MANY]


def _evidence(diagnosis: Diagnosis) -> Iterable[tuple[str, str]]:
    """The fields that the conditions speak of, with their values."""
    names = {each.ref.name for group in diagnosis.branch.conditions for each in group if isinstance(each, Test)}
    told: dict[str, tuple[str, str]] = {}
    for record in diagnosis.by[:_MANY]:
        fields = [(name, record.get(name)) for name in record.fields if name in names]
        shown = ", ".join(f"{' '.join(words(name))}: {value_of(value)}" for name, value in fields if value is not None)
        what = " ".join(words(record.path[-1])) if record.path else " ".join(words(short(record.call.tool)))
        if shown:
            told.setdefault(
                shown, (f"{what.capitalize()} {record.get('id') or ''}".strip() + f": {shown}.", record.call.citation)
            )
    return told.values()


def _filled(text: str, investigation: Investigation, diagnosis: Diagnosis) -> tuple[str, tuple[str, ...]]:
    """With values in the place of fields in backticks, and the calls that gave them."""
    used: list[str] = []

    def value(found: re.Match[str]) -> str:
        name = spelled(found[1].rpartition(".")[2])
        nouns = frozenset(terms(text[max(0, found.start() - _AHEAD) : found.start()]))
        for records in (diagnosis.by, _speakable(investigation)):
            having = [record for record in records if name in record.fields and record.get(name) not in (None, "")]
            best = max((called(record.place, nouns) for record in having), default=0)
            having = [record for record in having if called(record.place, nouns) == best]
            shown = list(dict.fromkeys(value_of(record.get(name)) for record in having))
            if shown:
                used.extend(record.call.citation for record in having[:_MANY])
                return _listed(shown[:_MANY])
        return " ".join(words(found[1])) if "_" in found[1] else found[1]

    return _TICKED.sub(value, text), tuple(dict.fromkeys(used))


def _speakable(investigation: Investigation) -> list[Record]:
    whose = investigation.ownership.whose
    records = investigation.before.records
    return [
        *(record for record in records if whose(record) == "own"),
        *(record for record in records if whose(record) == "account"),
        *(record for record in records if whose(record) == "anyone"),
    ]


def value_of(value: Any) -> str:
    """On one line, short, and without marks that could be taken for citations."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return _listed([value_of(each) for each in cast("list[Any]", value)[:_MANY]])
    if (at := moment(value)) is not None and len(str(value)) > 10:
        return f"{at:%Y-%m-%d %H:%M}"
    return " ".join(str(value).split())[:_LONG].translate({ord("["): "(", ord("]"): ")"})


def _listed(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."
