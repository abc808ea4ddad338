"""Which sentences of a ticket say what it is about: not the greeting, not the signature, not old mail."""

import re
from collections.abc import Sequence

from gaby.mind import concepts
from gaby.mind.sentences import Sentence, split
from gaby.mind.words import STOP_WORDS, words

_COURTESY = re.compile(
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|thanks|thank you|many thanks|thx|cheers|best|"
    r"kind|warm|"
    r"regards|sincerely|yours|greetings|hope (?:you|this)|sent from my|looking forward|let me know|have a nice|"
    r"i hope|please (?:let me know|advise|help)|any help|could you help)\b",
    re.IGNORECASE,
)
SYMPTOM = re.compile(
    r"\b(?:locked out|can(?:not|['’]t)|unable to|any ?more|no longer|won['’]t|"
    r"(?:do|does|did|is|are|was|were|has|have|had)(?:n['’]t| not)|nobody (?:came|called|turned|answer(?:s|ed))|missing|"
    r"never arrives?|since (?:yesterday|today|this|last|noon|midnight|mon|tues?|wed|thurs?|fri|sat|sun|an?|[0-9]|"
    r"the (?:update|change))[a-z]*|stopped|not (?:working|possible|allowed|shown|arriving))\b",
    re.IGNORECASE,
)
"""What people say of something that is not as it should be."""
_TROUBLE = ("fault", "unavailable", "signing_in", "permission", "danger", "money", "programming", "changing", "records")
_SHORT = 3
_LONG = 40
_LOOKED_AT = 100_000
_BEGINNING = 4000


def telling(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The most telling first; of two that tell as much, the one that comes first in the text."""
    ranked = sorted(
        ((_weight(sentence), -place), sentence) for place, sentence in enumerate(sentences) if _weight(sentence)
    )
    return [sentence for _, sentence in reversed(ranked)]


def gist(text: str, remaining: int) -> str:
    """The text, or of one that is longer the sentences that tell most, each once, in their order."""
    if len(text) <= remaining:
        return text
    once = {" ".join(words(sentence.plain)): sentence for sentence in reversed(split(text[:_LOOKED_AT]))}
    kept: list[Sentence] = []
    for sentence in telling(sorted(once.values(), key=lambda each: each.start)):
        remaining -= len(sentence.plain) + 1
        if remaining < 0:
            break
        kept.append(sentence)
    return "\n".join(each.plain for each in sorted(kept, key=lambda each: each.start)) or text[:_BEGINNING]


def is_courtesy(sentence: Sentence) -> bool:
    content = [word for word in words(sentence.plain) if word not in STOP_WORDS]
    return len(content) < 2 or (bool(_COURTESY.match(sentence.plain)) and len(content) < 8)


def _weight(sentence: Sentence) -> float:
    if sentence.kind in {"quote", "header", "code"} or is_courtesy(sentence):
        return 0.0
    content = [word for word in words(sentence.plain) if word not in STOP_WORDS]
    mentioned = concepts.mentioned(sentence.plain)
    trouble = sum(len(mentioned.get(name, ())) for name in _TROUBLE)
    length = min(len(content), _LONG) / _LONG
    return 1 + trouble + length - (0.5 if len(content) < _SHORT else 0.0) - (0.5 if sentence.kind == "log" else 0.0)
