"""Words for the requester and for colleagues: sentences of the runbook with the values that were found, each cited.

Values come only from records that are the requester's or nobody's in particular. A sentence for the requester of which
a field has no value, or several that the runbook does not tell apart, is not sent; colleagues are told why.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from gaby.mind.investigation import Diagnosis, SituationAnalysis
from gaby.mind.records import Record, called, nearest
from gaby.mind.runbooks import Advice
from gaby.mind.runbooks.comparison import moment
from gaby.mind.runbooks.conditions import FieldTest
from gaby.mind.runbooks.evaluation import resolve
from gaby.mind.runbooks.statements import ASKS, REQUESTER, TELLS
from gaby.mind.situations import PastCall
from gaby.mind.summaries import CitedSentence
from gaby.mind.tool_names import short_name
from gaby.mind.words import spelled, terms, words

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


def reply(investigation: SituationAnalysis, diagnosis: Diagnosis) -> list[CitedSentence]:
    """What is the case, what was done, what is left to do, and who does it."""
    branch = diagnosis.branch
    remedies = investigation.remedies(diagnosis)
    first = [each for each in branch.told if not each.later]
    sentences = [_said(_without_opening(each.text), each, investigation, diagnosis) for each in first]
    later = [each for each in branch.told if each.later]
    if branch.cause and not first and not (later and remedies):
        # Only where the runbook says nothing to the requester: a cause is written for colleagues.
        cause = Advice(branch.cause, branch.citation)
        sentences.append(_said(branch.cause, cause, investigation, diagnosis, released=False))
    if remedies:
        sentences += [_afterwards(each, investigation, diagnosis, remedies) for each in later]
        if not later:
            sentences.append(CitedSentence(_what_was_done(remedies), tuple(call.citation for call in remedies)))
    sentences += [_said(_asked(each.text), each, investigation, diagnosis, short_of=True) for each in branch.asked]
    sentences += _waiting(investigation, branch.citation)
    notes_left = [call for call in investigation.changes if call.outcome == "done" and call not in remedies]
    if branch.handed:
        sentences.append(_handed(branch.handed[0], notes_left))
    return [each for each in sentences if each is not None and each.text]


def unsent(investigation: SituationAnalysis, diagnosis: Diagnosis) -> list[CitedSentence]:
    """Sentences that were meant for the requester and were not sent, with the reason."""
    sentences: list[CitedSentence] = []
    for each in (*diagnosis.branch.told, *diagnosis.branch.asked):
        filled = _filled(each.text, investigation, diagnosis)
        if filled.missing and (not each.later or investigation.remedies(diagnosis)):
            said = each.text.replace("`", "")[:_LONG]
            sentences.append(
                CitedSentence(f"Not told to the requester, because {filled.missing}: “{said}”", (each.citation,))
            )
    return sentences


def notes(investigation: SituationAnalysis, diagnosis: Diagnosis) -> list[CitedSentence]:
    """For colleagues: the cause, what shows it, and what the runbook says besides."""
    branch = diagnosis.branch
    calls = _shown_by(diagnosis)
    sentences = [CitedSentence(f"{branch.cause or diagnosis.runbook.title}", (branch.citation, *calls))]
    sentences += [CitedSentence(text, (citation,)) for text, citation in _evidence(investigation, diagnosis)]
    sentences += [
        CitedSentence(_filled(each.text, investigation, diagnosis).text, (each.citation,))
        for each in (*branch.details, *branch.handed)
    ]
    return [*sentences, *unsent(investigation, diagnosis)]


def follow_up_sentences(investigation: SituationAnalysis, diagnosis: Diagnosis) -> list[CitedSentence]:
    """For colleagues who make the change themselves: what the runbook then wants the requester to be told."""
    said = [(each, _filled(_without_opening(each.text), investigation, diagnosis)) for each in diagnosis.branch.told]
    return [
        CitedSentence(f"After that the requester can be told: “{_sentence(filled.text)}”", (each.citation,))
        for each, filled in said
        if each.later and not filled.missing
    ]


def note_text(investigation: SituationAnalysis, diagnosis: Diagnosis) -> str:
    """The same on one line, for a tool that takes a reason or a note."""
    texts = [each.text for each in notes(investigation, diagnosis)[: 1 + _MANY]]
    return " ".join(dict.fromkeys(texts))


def _said(
    text: str,
    advice: Advice,
    investigation: SituationAnalysis,
    diagnosis: Diagnosis,
    *,
    short_of: bool = False,
    released: bool = True,
) -> CitedSentence | None:
    filled = _filled(text, investigation, diagnosis)
    if filled.missing:
        return None
    used = filled.used
    # What the requester should do follows from the runbook; what is the case follows from what was seen, too.
    seen = () if short_of and not used else used or _shown_by(diagnosis)
    return CitedSentence(_sentence(filled.text), tuple(dict.fromkeys((advice.citation, *seen))), released)


def _afterwards(
    advice: Advice, investigation: SituationAnalysis, diagnosis: Diagnosis, remedies: Sequence[PastCall]
) -> CitedSentence | None:
    filled = _filled(_without_opening(advice.text), investigation, diagnosis)
    cited = (advice.citation, *(call.citation for call in remedies), *filled.used)
    return None if filled.missing else CitedSentence(_sentence(filled.text), tuple(dict.fromkeys(cited)), released=True)


def _without_opening(text: str) -> str:
    return TELLS.sub("", text, count=1).strip(" \"'“”")


def _asked(text: str) -> str:
    """`Ask the requester to check their phone` as `Please check your phone`."""
    match = ASKS.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    whom, how = match[1], match[2].lower()
    if not REQUESTER.match(whom):
        return f"Please ask {whom[0].lower()}{whom[1:]} {how} {rest}"
    rest = _YOURS.sub("your", rest)
    if how == "to":
        rest = _OR_TO.sub(r"\1 ", rest)
    return f"{_OPENINGS.get(how, f'Please tell us {how}')} {_THEY.sub('you', rest)}"


def _waiting(investigation: SituationAnalysis, citation: str) -> list[CitedSentence]:
    waits = [call for call in investigation.changes if call.outcome == "asked"]
    if not waits:
        return []
    text = f"The next step ({_named(waits)}) has to be confirmed by one of us first."
    return [CitedSentence(text, (citation, *(call.citation for call in waits)), released=True)]


def _handed(advice: Advice, done: Sequence[PastCall]) -> CitedSentence:
    team = _TEAM.search(advice.text)
    text = f"It goes to {team[1]}." if team else "A colleague takes it from here."
    return CitedSentence(text, (advice.citation, *(call.citation for call in done)), released=True)


def _what_was_done(calls: Sequence[PastCall]) -> str:
    return f"This was done: {_named(calls)}."


def _named(calls: Sequence[PastCall]) -> str:
    return ", ".join(dict.fromkeys(" ".join(words(short_name(call.tool))) for call in calls))


def _shown_by(diagnosis: Diagnosis) -> tuple[str, ...]:
    return tuple(dict.fromkeys(record.call.citation for record in diagnosis.by))[:_MANY]


def _evidence(investigation: SituationAnalysis, diagnosis: Diagnosis) -> Iterable[tuple[str, str]]:
    """The fields that the conditions speak of, of the things that they name, with their values."""
    scene = investigation.scene(diagnosis.runbook, investigation.before)
    tests = [each for group in diagnosis.branch.conditions for each in group if isinstance(each, FieldTest)]
    shown_in = {(each.place, test.ref.name) for test in tests for each in resolve(test.ref, scene).places}
    evidence: dict[str, tuple[str, str]] = {}
    for record in diagnosis.by[:_MANY]:
        fields = [(name, record.get(name)) for name in record.fields if (record.place, name) in shown_in]
        shown = ", ".join(f"{' '.join(words(name))}: {value_of(value)}" for name, value in fields if value is not None)
        what = " ".join(words(record.path[-1])) if record.path else " ".join(words(short_name(record.call.tool)))
        if shown:
            evidence.setdefault(
                shown, (f"{what.capitalize()} {record.get('id') or ''}".strip() + f": {shown}.", record.call.citation)
            )
    return evidence.values()


@dataclass(frozen=True)
class _FilledTemplate:
    text: str
    used: tuple[str, ...]
    """The calls that gave the values."""
    missing: str = ""
    """Why a field has no value. The text then has its name."""


def _filled(text: str, investigation: SituationAnalysis, diagnosis: Diagnosis) -> _FilledTemplate:
    """With values in the place of fields in backticks."""
    used: list[str] = []
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        name = spelled(match[1].rpartition(".")[2])
        nouns = frozenset(terms(text[max(0, match.start() - _AHEAD) : match.start()]))
        near = [(records, True) for records in nearest(diagnosis.by, investigation.before)]
        for records, may_be_several in (*near, (_speakable(investigation, diagnosis), False)):
            having = [record for record in records if record.get(name) not in (None, "")]
            best = max((called(record.place, nouns) for record in having), default=0)
            having = [record for record in having if called(record.place, nouns) == best]
            shown = list(dict.fromkeys(value_of(record.get(name)) for record in having))
            if len(shown) > 1 and not may_be_several:
                missing.append(f"`{match[1]}` has several values")
                return match[1]
            if shown:
                used.extend(record.call.citation for record in having[:_MANY])
                return _listed(shown[:_MANY])
        missing.append(f"`{match[1]}` has no value")
        return match[1]

    return _FilledTemplate(_TICKED.sub(value, text), tuple(dict.fromkeys(used)), ", ".join(dict.fromkeys(missing)))


def _speakable(investigation: SituationAnalysis, diagnosis: Diagnosis) -> list[Record]:
    """What the runbook's own tools told of the requester and of nobody in particular."""
    among = [each for each in investigation.before.records if short_name(each.call.tool) in diagnosis.runbook.tools]
    return investigation.ownership.readable(among)


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
