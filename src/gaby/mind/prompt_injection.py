"""Hints of danger in what others wrote: orders to the assistant, and strangers who want what is not theirs.

They are a note for colleagues and a reason to hand over and to change nothing. What the requester reads does not depend
on them.
"""

import re

from gaby.mind.languages import fold

_READ = 100_000
_ASSISTANT = r"(?:ai|assistant|agent|bot|chatbot|llm|language model|gaby)"
_OVERRIDES = re.compile(
    r"\b(?:"
    r"(?:ignore|disregard|forget|override) (?:all |any |the |your |every |of )*"
    r"(?:previous |prior |earlier |above |other |existing |safety )?"
    r"(?:instructions?|rules|prompts?|guidelines|polic(?:y|ies)|guardrails)|"
    r"ignorier(?:e|en|t)(?: sie)? (?:alle )?(?:die |deine |ihre )?(?:vorherigen|bisherigen|obigen) "
    r"(?:anweisungen|regeln)|"
    r"ignorez (?:toutes )?(?:les |vos )?(?:instructions|consignes|regles) (?:precedentes|anterieures)|"
    r"(?:ignora|ignore|ignorar|ignorad) (?:todas )?(?:las |as |tus )?"
    r"(?:instrucciones|instrucoes|reglas|regras) (?:anteriores|previas)|"
    r"(?:you are|act as|pretend to be|you're) (?:now )?(?:an? |the )?"
    r"(?:dan\b|unrestricted|jailbroken|admin(?:istrator)? mode|developer mode|different assistant)|"
    r"(?:reveal|print|show|repeat) (?:me )?(?:your|the) system prompt|"
    r"(?:system|admin(?:istrator)?|developer|security) (?:notice|message|prompt|instruction|override)s? "
    r"(?:to|for) (?:the |any |all )?(?:ai|assistant|llm|language model|gaby)"
    r")\b",
    re.IGNORECASE,
)
"""One of these is enough: nobody writes them to a colleague."""
_MARKS = re.compile(r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|\bBEGIN SYSTEM\b", re.IGNORECASE)
_HINTS = (
    re.compile(
        rf"\b(?:system|admin(?:istrator)?|developer|security) (?:notice|message|prompt|instruction|override)s?\b"
        rf"[^.\n]{{0,40}}\b{_ASSISTANT}\b|"
        rf"\b(?:notice|instructions?|message|note|command)s? (?:to|for) (?:the |any |all )?{_ASSISTANT}\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bdo not (?:mention|tell|reveal|report) (?:this|these|the) (?:notice|instructions?|message|order)s?\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:identity|security|approval) checks? (?:for this ticket )?"
        r"(?:is|are|was|were|has been|have been) (?:already )?(?:done|passed|completed?|waived|skipped)\b|"
        r"\b(?:no|without) (?:further )?(?:approval|verification|confirmation) (?:is )?(?:needed|required|necessary)\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{_ASSISTANT}[,:]? (?:must|shall|has to|should|is to|will) \w+", re.IGNORECASE),
)
"""Each of them may stand in an honest ticket; two together do not."""
_ENOUGH = 2
_IMPERSONATES = re.compile(
    r"\b(?:private|personal|new|other|temporary) (?:e-?mail )?(?:address|account|mailbox|e-?mail)\b|"
    r"\b(?:on behalf of|in the name of)\b|"
    r"\bi am (?:the )?(?:new )?(?:ceo|cfo|cto|coo|director|boss|owner|administrator)\b",
    re.IGNORECASE,
)
_WANTS_DATA = re.compile(
    r"\b(?:send|give|show|forward|export|share)\b.{0,30}"
    r"\b(?:list|all|passwords?|users|customers|data|codes?|keys?|tokens?)\b",
    re.IGNORECASE,
)


def orders(text: str) -> str | None:
    """The words by which a text tries to give orders to an assistant, where that is plain."""
    read = fold(text[:_READ])
    if match := _OVERRIDES.search(read) or _MARKS.search(read):
        return _shown(match)
    hints = [match for each in _HINTS if (match := each.search(read))]
    return _shown(hints[0]) if len(hints) >= _ENOUGH else None


def _shown(match: re.Match[str]) -> str:
    return " ".join(match[0].split())[:120]


def pretends(text: str) -> bool:
    """Somebody who writes from elsewhere, or for somebody else."""
    return _IMPERSONATES.search(text, 0, _READ) is not None


def wants_data(text: str) -> bool:
    return _WANTS_DATA.search(text, 0, _READ) is not None
