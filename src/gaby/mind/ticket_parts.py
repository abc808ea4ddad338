"""A ticket that tells of several things, cut into its parts: by numbers, by list items, by words that open a new one,
such as `also` and `second`, and by questions that point to nothing before them.

What tells of nothing by itself belongs to the part before it.
"""

import re
from collections.abc import Sequence

from gaby.mind import concepts
from gaby.mind.changes import asked_changes
from gaby.mind.key_sentences import SYMPTOM, is_courtesy
from gaby.mind.questions import questions
from gaby.mind.sentences import Sentence, split
from gaby.mind.words import terms

_READ = 6000
_MOST = 4
_LEAST_WORDS = 2
_TROUBLE = ("fault", "unavailable", "danger")
_OPENS = re.compile(
    r"(?:p\.? ?s\.?:?|(?:and )?also|besides|additionally|in addition|furthermore|moreover|separately|and|then|"
    r"another (?:thing|question|problem|issue|point)|one (?:more|other) (?:thing|question|problem)|"
    r"first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|by the way|"
    r"apart from (?:that|this)|on top of (?:that|this)|"
    r"(?:my|our|the) (?:second|other|next|third) (?:question|problem|issue|thing|point)(?: is)?)\b[,:]?\s+",
    re.IGNORECASE,
)
_ALSO = re.compile(r"(?:\w{1,12} ){1,2}also\b", re.IGNORECASE)
_ASKS_ANEW = re.compile(r"(?:where|how|which|who|what|when)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:it|they|them|(?<!so )that|this|these|those|one|again)\b", re.IGNORECASE)
_CUE_NEEDED = re.compile(r"(?:and|also|besides|additionally|in addition)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?:^|(?<=\s))\(?([1-9])[.)]\s+(?=\S)")
_STEPS = re.compile(r"\b(?:steps? to reproduce|to reproduce|reproduction)\b", re.IGNORECASE)


def parts(title: str, text: str) -> list[str]:
    """In their order, at most four. One or none: it is about one thing."""
    text = text[:_READ]
    if _STEPS.search(text):
        return []
    numbered = _numbered(text)
    if numbered and all(len(set(terms(each))) >= _LEAST_WORDS for each in numbered):
        # Whoever counts means several things, whether or not each is understood.
        return numbered if len(numbered) <= _MOST else []
    groups = numbered or _grouped(text)
    if groups and _CUE_NEEDED.match(text.lstrip()) and tells(title):
        groups = [title, *groups]
    pieces: list[str] = []
    for group in groups:
        if tells(group) or not pieces:
            pieces.append(group)
        else:
            pieces[-1] = f"{pieces[-1]} {group}"
    # Whatever comes before the first thing that is told of leads up to it.
    if len(pieces) > 1 and not tells(pieces[0]):
        pieces[:2] = [f"{pieces[0]} {pieces[1]}"]
    return pieces if len(pieces) <= _MOST else []


def tells(text: str) -> bool:
    """Of trouble, of a question or of a wish, in more than a word."""
    if len(set(terms(text))) < _LEAST_WORDS:
        return False
    mentioned = concepts.mentioned(text)
    return (
        any(name in mentioned for name in _TROUBLE)
        or bool(questions(text))
        or SYMPTOM.search(text) is not None
        or bool(asked_changes(text))
    )


def _numbered(text: str) -> list[str]:
    """1, 2, 3 as they follow each other, on lines of their own or in a row. The last one ends with its paragraph."""
    marks: list[re.Match[str]] = []
    for match in _NUMBER.finditer(text):
        if int(match[1]) == len(marks) + 1:
            marks.append(match)
    if len(marks) < _LEAST_WORDS:
        return []
    ends = [each.start() for each in marks[1:]] + [len(text)]
    cut = [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    return [*cut[:-1], cut[-1].partition("\n\n")[0]]


def _grouped(text: str) -> list[str]:
    groups: list[list[str]] = []
    for sentence in _own(text):
        opens = _OPENS.match(sentence.plain)
        if opens or not groups or sentence.kind == "item" or _is_new(sentence.plain):
            groups.append([])
        groups[-1].append(sentence.plain[opens.end() :] if opens else sentence.plain)
    return [" ".join(group) for group in groups]


def _is_new(sentence: str) -> bool:
    """`I also forgot` goes on to something else, and so does a question that points to nothing before it."""
    if _ALSO.match(sentence):
        return True
    is_whole = len(set(terms(sentence))) >= _LEAST_WORDS and not _POINTS_BACK.search(sentence)
    return bool(_ASKS_ANEW.match(sentence)) and sentence.endswith("?") and is_whole


def _own(text: str) -> Sequence[Sentence]:
    return [each for each in split(text) if each.is_own and (each.text.endswith("?") or not is_courtesy(each))]
