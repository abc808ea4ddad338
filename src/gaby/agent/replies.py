"""Replies: the cited sentences of an ending as plain text for the requester, and with every token for colleagues."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gaby.kernel.outcomes import Verdict
from gaby.mind import CitedSentence, Urgency
from gaby.safety import clean_reply

PUBLIC: frozenset[Verdict] = frozenset({"auto_resolved", "needs_client"})
"""Verdicts that are told to the requester; the others are told to colleagues where the desk can do that."""

T = TypeVar("T")
ENGLISH = "English"
_CLOSING: dict[str, dict[Verdict, str]] = {
    ENGLISH: {
        "auto_resolved": "Reply here if this does not settle it, and a colleague will look into it.",
        "needs_client": "Please reply here, and we will go on from there.",
        "needs_tech": "A colleague goes on from here.",
    },
    "German": {
        "auto_resolved": "Antworten Sie hier, falls das nicht weiterhilft; dann sieht es sich jemand von uns an.",
        "needs_client": "Bitte antworten Sie hier, dann machen wir weiter.",
        "needs_tech": "Jemand aus unserem Team macht ab hier weiter.",
    },
    "French": {
        "auto_resolved": "Répondez ici si cela ne suffit pas, et une personne de l'équipe s'en occupera.",
        "needs_client": "Merci de répondre ici, et nous reprendrons à partir de là.",
        "needs_tech": "Une personne de l'équipe prend la suite.",
    },
    "Spanish": {
        "auto_resolved": "Responda aquí si esto no lo resuelve, y una persona del equipo lo revisará.",
        "needs_client": "Responda aquí, por favor, y continuaremos a partir de ahí.",
        "needs_tech": "Una persona del equipo continúa a partir de aquí.",
    },
}
_ACKNOWLEDGEMENT = {
    ENGLISH: "Thanks, we have it; a colleague takes it from here.",
    "German": "Danke, Ihre Nachricht ist bei uns angekommen. Jemand aus unserem Team kümmert sich darum.",
    "French": "Merci, nous avons bien reçu votre message. Une personne de l'équipe s'en occupe.",
    "Spanish": "Gracias, hemos recibido su mensaje. Una persona del equipo se encarga de ello.",
}
_SIGNATURE = {
    ENGLISH: "Gaby, automated support",
    "German": "Gaby, automatischer Support",
    "French": "Gaby, assistance automatisée",
    "Spanish": "Gaby, soporte automatizado",
}
_SOURCES = {
    ENGLISH: "More about this",
    "German": "Mehr dazu",
    "French": "Pour en savoir plus",
    "Spanish": "Más información",
}
_FOR_COLLEAGUES: dict[Verdict, str] = {
    "auto_resolved": "The requester was told that it is resolved.",
    "needs_client": "The requester was asked.",
    "needs_tech": "A colleague takes it from here.",
    "needs_l2": "Somebody of the second level takes it from here.",
    "failed": "Gaby could not look into this. A colleague takes it from here.",
    "failed_budget": "Gaby ran out of its budget before it was done. A colleague takes it from here.",
    "skipped": "",
}
_HEADS: dict[Verdict, str] = {
    "auto_resolved": "is resolved",
    "needs_client": "waits for the requester",
    "needs_tech": "needs a colleague",
    "needs_l2": "needs the second level",
    "failed": "could not be looked into",
    "failed_budget": "ran out of budget",
}
_URGENT: dict[Urgency, str] = {"high": "**Urgent.** ", "critical": "**Critical.** "}
_TOKEN = re.compile(r"\[((?:doc|tool):[^\[\]\s]+)\]")
_CITED_AT = re.compile(rf" {{0,20}}{_TOKEN.pattern}")
_ITEM = re.compile(r"(?:[0-9]{1,3}[.)]|-) ")


@dataclass(frozen=True)
class PageLink:
    """A page as a requester is shown it."""

    title: str
    address: str | None = None
    """Where it stands in the web, if it does for everybody."""


def cited_text(sentences: Sequence[CitedSentence]) -> str:
    """With the tokens in brackets behind each sentence."""
    return "\n".join(f"{each.text} {' '.join(f'[{token}]' for token in each.citations)}".strip() for each in sentences)


def tokens_in(text: str) -> list[str]:
    return list(dict.fromkeys(match[1] for match in _TOKEN.finditer(text)))


def acknowledgement(language: str = ENGLISH) -> str:
    """What a requester reads whose ticket goes to a person: the same for everybody, whatever was found."""
    return clean_reply(f"{_in(_ACKNOWLEDGEMENT, language)}\n\n{_in(_SIGNATURE, language)}")


def message(
    verdict: Verdict,
    cited: str,
    written_by: str,
    hidden: Collection[str] = (),
    *,
    language: str = ENGLISH,
    pages: Mapping[str, PageLink] | None = None,
    tells_change: bool = False,
) -> str:
    """What the requester is told: plain text without tokens, with the titles of the `pages` it rests on. Those that are
    `hidden` are not named: a title may tell what the page is about. Who wrote it is told to colleagues only; but what a
    model wrote keeps its lines, and has an end of its own in the language of its reader. Where a colleague takes over,
    rules tell no more than that, unless something was changed."""
    by_rules = written_by == "offline"
    if verdict not in PUBLIC and not (cited and (tells_change or not by_rules)):
        return acknowledgement(language)
    known = pages or {}
    shown = [known[token] for token in tokens_in(cited) if token in known and token not in hidden]
    titles = dict.fromkeys(f"{each.title} ({each.address})" if each.address else each.title for each in shown)
    sources = f"{_in(_SOURCES, language)}: {'; '.join(titles)}" if titles else ""
    text, closing = (_paragraphs(cited), _in(_CLOSING, language)[verdict]) if by_rules else (_as_written(cited), "")
    parts = (text, closing, sources, _in(_SIGNATURE, language))
    return clean_reply("\n\n".join(part for part in parts if part))


def note(
    verdict: Verdict,
    cited: str,
    written_by: str,
    *,
    notes: str = "",
    reasons: Sequence[str] = (),
    urgency: Urgency = "medium",
) -> str:
    """What colleagues are told: that it is urgent, the reasons, and what is behind it, with every source."""
    head = f"{_URGENT.get(urgency, '')}**This ticket {_HEADS.get(verdict, verdict)}.** {' '.join(reasons)}".strip()
    for_them = f"What the requester can be told:\n{cited}" if notes and cited and verdict not in PUBLIC else cited
    return _written([head, notes, for_them, _FOR_COLLEAGUES[verdict]], written_by)


def _in(texts: Mapping[str, T], language: str) -> T:
    return texts.get(language, texts[ENGLISH])


def _as_written(cited: str) -> str:
    """Line by line, without the tokens and the blanks before them."""
    return "\n".join(_CITED_AT.sub("", line).rstrip() for line in cited.splitlines())


def _paragraphs(cited: str) -> str:
    """Sentences that follow each other as one paragraph; items of a list on lines of their own."""
    lines: list[str] = []
    for line in _TOKEN.sub("", cited).splitlines():
        said = " ".join(line.split())
        if not said:
            continue
        if not lines or _ITEM.match(said) or lines[-1].endswith(":"):
            lines.append(said)
        else:
            lines[-1] = f"{lines[-1]} {said}"
    # A list needs an empty line before it, else it is part of the paragraph.
    starts = [
        place for place, line in enumerate(lines) if place and _ITEM.match(line) and not _ITEM.match(lines[place - 1])
    ]
    for place in reversed(starts):
        lines.insert(place, "")
    return "\n".join(lines)


def _written(citations: Sequence[str], written_by: str) -> str:
    text = "\n\n".join(part for part in citations if part)
    numbers = {token: number for number, token in enumerate(tokens_in(text), 1)}
    text = _TOKEN.sub(lambda match: f"[{numbers[match[1]]}]", text)
    listed = "\n".join(f"[{number}] `{token}`" for token, number in numbers.items())
    by = "without a language model" if written_by == "offline" else f"with {written_by}"
    parts = (text, f"Sources:\n{listed}" if listed else "", f"_Written by Gaby, {by}._")
    return clean_reply("\n\n".join(part for part in parts if part))
