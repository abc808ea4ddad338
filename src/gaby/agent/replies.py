"""Replies: the cited sentences of an ending as a message that people like to read."""

import re
from collections.abc import Collection, Sequence

from gaby.mind import CitedSentence
from gaby.safety import clean_reply
from gaby.tickets.canonical import Verdict

PUBLIC: frozenset[Verdict] = frozenset({"auto_resolved", "needs_client"})
"""Verdicts that are told to the requester; the others are told to colleagues where the desk can do that."""

_CLOSING: dict[Verdict, str] = {
    "auto_resolved": "As far as we can see this is resolved. Reply here if it is not, and a person will look.",
    "needs_client": "Reply here, and we go on.",
    "needs_tech": "A colleague takes it from here.",
    "needs_l2": "Somebody of the second level takes it from here.",
    "failed": "Gaby could not look into this. A colleague takes it from here.",
    "failed_budget": "Gaby ran out of its budget before it was done. A colleague takes it from here.",
    "skipped": "",
}
_HEADS: dict[Verdict, str] = {
    "needs_tech": "needs a colleague",
    "needs_l2": "needs the second level",
    "failed": "could not be looked into",
    "failed_budget": "ran out of budget",
}
_TOKEN = re.compile(r"\[((?:doc|tool):[^\[\]\s]+)\]")


def cited_text(sentences: Sequence[CitedSentence]) -> str:
    """With the tokens in brackets behind each sentence."""
    return "\n".join(f"{each.text} {' '.join(f'[{token}]' for token in each.citations)}".strip() for each in sentences)


def tokens_in(text: str) -> list[str]:
    return list(dict.fromkeys(found[1] for found in _TOKEN.finditer(text)))


def message(verdict: Verdict, cited: str, written_by: str, hidden: Collection[str] = ()) -> str:
    """What the requester is told: numbers instead of tokens, and the sources at the end. Those that are `hidden` are
    not named: a title may tell what the page is about."""
    # A model has closed its reply itself, in the language of the reader.
    closing = _CLOSING[verdict] if written_by == "offline" else ""
    return _written([cited, closing], written_by, hidden)


def note(verdict: Verdict, cited: str, written_by: str, *, notes: str = "", reasons: Sequence[str] = ()) -> str:
    """What colleagues are told: the reasons and what is behind it, which are none of the requester's business."""
    if verdict in PUBLIC:
        return message(verdict, cited, written_by)
    head = f"**This ticket {_HEADS.get(verdict, verdict)}.** {' '.join(reasons)}".strip()
    for_them = f"What the requester can be told:\n{cited}" if notes and cited else cited
    return _written([head, notes, for_them, _CLOSING[verdict]], written_by)


def _written(told: Sequence[str], written_by: str, hidden: Collection[str] = ()) -> str:
    text = "\n\n".join(part for part in told if part)
    sources = tokens_in(text)
    numbers = {token: number for number, token in enumerate(sources, 1)}
    text = _TOKEN.sub(lambda found: f"[{numbers[found[1]]}]", text)
    listed = "\n".join(
        f"[{number}] {'an internal page' if token in hidden else f'`{token}`'}" for token, number in numbers.items()
    )
    by = "without a language model" if written_by == "offline" else f"with {written_by}"
    parts = (text, f"Sources:\n{listed}" if listed else "", f"_Written by Gaby, {by}._")
    return clean_reply("\n\n".join(part for part in parts if part))


def acknowledgement(_text: str) -> str:
    """The calm first reply when a colleague takes over, in the language of the ticket."""
    return "Thank you for your message. We have it, and a colleague takes it from here."
