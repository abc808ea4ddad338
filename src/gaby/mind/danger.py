"""Signs of danger in what others wrote: orders to the assistant, and strangers who want what is not theirs."""

import re

_READ = 100_000
_ORDERS = re.compile(
    r"\b(?:"
    r"(?:system|admin(?:istrator)?|developer|security) (?:notice|message|prompt|instruction|override)s?\b.{0,40}\b"
    r"(?:assistant|agent|bot|ai|model|gaby)|"
    r"(?:notice|instructions?|message|note|command)s? (?:to|for) (?:the |any |all )?"
    r"(?:ai|assistant|agent|bot|llm|model|gaby)\b|"
    r"(?:ignore|disregard|forget|override) (?:all |any |the |your |every )*"
    r"(?:previous|prior|earlier|above|other|existing|safety)? ?"
    r"(?:instructions?|rules|prompts?|guidelines|polic(?:y|ies)|guardrails)|"
    r"(?:you are|act as|pretend to be|you're) (?:now )?(?:an? |the )?"
    r"(?:dan\b|unrestricted|jailbroken|admin(?:istrator)? mode|developer mode|different assistant)|"
    r"(?:reveal|print|show|repeat) (?:me )?(?:your|the) (?:system )?prompt|"
    r"do not (?:mention|tell|reveal|report) (?:this|these|the) (?:notice|instructions?|message|order)s?|"
    r"(?:the |all )?(?:identity|security|approval) checks? (?:for this ticket )?(?:is|are|was|were|has been|have been) "
    r"(?:already )?(?:done|passed|complete[d]?|waived|skipped)|"
    r"(?:no|without) (?:further )?(?:approval|verification|confirmation) (?:is )?(?:needed|required|necessary)"
    r")",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = re.compile(r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|\bBEGIN SYSTEM\b", re.IGNORECASE)
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
    """The words by which a text tries to give orders to an assistant."""
    found = _ORDERS.search(text, 0, _READ) or _MARKS.search(text, 0, _READ)
    return " ".join(found[0].split())[:120] if found else None


def pretends(text: str) -> bool:
    """Somebody who writes from elsewhere, or for somebody else."""
    return _IMPERSONATES.search(text, 0, _READ) is not None


def wants_data(text: str) -> bool:
    return _WANTS_DATA.search(text, 0, _READ) is not None
