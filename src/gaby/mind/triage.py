"""Triage: what a ticket wants, how urgent it is, and whether it is worth an investigation."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from gaby.llm.embeddings.embed import Embed
from gaby.mind import urgency
from gaby.mind.automated_mail import tells_trouble, written_by
from gaby.mind.key_sentences import SYMPTOM, gist
from gaby.mind.languages import ENGLISH, language_of
from gaby.mind.linear_model import FeatureScaler, LinearModel, Numbers, learn, vectors_of
from gaby.mind.package_data import rows_of
from gaby.mind.questions import questions
from gaby.mind.ticket_features import LONGEST, TicketFeatures, form_of, matrix
from gaby.mind.urgency import URGENCIES, Urgency

Intent = Literal[
    "access",
    "billing",
    "outage",
    "bug",
    "integration",
    "how_to",
    "data_request",
    "security",
    "account_change",
    "feedback",
    "spam",
    "other",
]
INTENTS: tuple[Intent, ...] = get_args(Intent)


@dataclass(frozen=True)
class RuleTriage:
    intent: Intent
    confidence: float
    """Between 0 and 1: how often such an answer was right for examples that the model had not seen."""
    urgency: Urgency
    worth_investigating: bool
    reasons: tuple[str, ...]


_ABOUT: dict[Intent, str] = {
    "access": "getting in or being allowed to",
    "billing": "money",
    "outage": "something that is down or slow for many",
    "bug": "something that works wrongly",
    "integration": "systems that talk to each other",
    "how_to": "how something is done",
    "data_request": "data or a report that somebody wants",
    "security": "a danger to security",
    "account_change": "a change of an account or a contract",
    "feedback": "an opinion or a wish",
    "spam": "advertising",
    "other": "something else",
}
_AUTOMATIC = re.compile(
    r"\b(?:out of (?:the )?office|automatic(?:ally generated)? (?:reply|response)|auto-?reply|undeliverable|"
    r"delivery (?:failure|status notification)|mail(?:box)? (?:is )?full|mailer-daemon|"
    r"your (?:message|e-?mail|mail)\b.{0,80} could not be delivered|(?:on|annual) (?:leave|vacation|holiday) until)\b",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"\b(?:(?:close|ignore|disregard) (?:(?:this|the|my) )?(?:last |previous )?"
    r"(?:ticket|case|request|issue|one|message|e-?mail|it)\b|"
    r"(?:problem|issue)s? (?:is |was )?(?:solved|resolved|fixed)|(?:it )?works (?:again|now)|all good|"
    r"wrong (?:recipient|address|ticket|person)|(?:sent|meant) (?:this )?(?:by mistake|for some(?:body|one) else))",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:i|we|me|us|my|our)\b", re.IGNORECASE)
_OFFERS = re.compile(r"\b(?:i|we) (?:[a-z]+ ){1,3}(?:you|your)\b|\b(?:with|from|for|by) us\b", re.IGNORECASE)
_SHORT = 25
_SURE = 0.5
_UNSURE = 0.3


def triage(text: str, embed: Embed) -> RuleTriage:
    """The same for the same text, always. Of a long text what tells most is read."""
    form = form_of(gist(text, LONGEST))
    if not any(map(str.isalnum, form.text)):
        return RuleTriage("other", 1.0, "low", worth_investigating=False, reasons=("There are no words in it.",))
    if machine := written_by(text):
        return RuleTriage("other", 0.9, "low", worth_investigating=False, reasons=(machine,))
    if (language := language_of(text)) != ENGLISH:
        reason = f"It is written in {language}, which is left to a person without a model."
        return RuleTriage("other", 0.0, "medium", worth_investigating=True, reasons=(reason,))
    brain = _brain(embed)
    features = brain.features([form], embed)
    shares = brain.intents.shares(features)[0]
    best = int(shares.argmax())
    intent, confidence = INTENTS[best], round(float(shares[best]), 3)
    learned = URGENCIES[int(brain.urgencies.shares(features)[0].argmax())]
    level, why = urgency.decide(form, intent, learned)
    worth, objection = _worth(form, intent, confidence)
    reasons = [_reason(form, intent, confidence), *why, *([objection] if objection else [])]
    return RuleTriage(intent, confidence, level, worth_investigating=worth, reasons=tuple(reasons))


@dataclass(frozen=True)
class _TriageModel:
    scale: FeatureScaler
    intents: LinearModel
    urgencies: LinearModel

    def features(self, forms: list[TicketFeatures], embed: Embed) -> Numbers:
        return self.scale.apply(matrix(forms), vectors_of(embed, [form.text for form in forms]))


@lru_cache(maxsize=4)
def _brain(embed: Embed) -> _TriageModel:
    """Learned once for each way to embed."""
    rows = list(rows_of("triage.jsonl"))
    forms = [form_of(row["text"]) for row in rows]
    vectors = vectors_of(embed, [form.text for form in forms])
    scale = FeatureScaler.fit(matrix(forms), vectors)
    features = scale.apply(matrix(forms), vectors)
    return _TriageModel(
        scale,
        learn(features, [row["intent"] for row in rows], INTENTS),
        learn(features, [row["urgency"] for row in rows], URGENCIES),
    )


def _worth(form: TicketFeatures, intent: Intent, confidence: float) -> tuple[bool, str | None]:
    """A ticket is put aside only for a reason that can be shown; in doubt somebody looks at it."""
    has_trouble = any(map(form.says, ("fault", "unavailable", "danger"))) or bool(SYMPTOM.search(form.text))
    is_short = len(form.text.split()) <= _SHORT
    if _AUTOMATIC.search(form.text) and is_short and not tells_trouble(form.text):
        return False, "A machine wrote it."
    if is_short and _CLOSED.search(form.text) and "?" not in form.text:
        return False, "It says that nothing is left to do."
    if intent == "spam" and confidence >= _SURE and not has_trouble and not _asks_for_themselves(form.text):
        return False, "It is advertising."
    if intent == "feedback" and confidence >= _SURE and not has_trouble and "?" not in form.text:
        return False, "It is an opinion: there is nothing to look into."
    if intent == "other" and is_short and set(form.concepts) == {"chatter"} and "?" not in form.text:
        return False, "It is a courtesy, not a request."
    return True, None


def _asks_for_themselves(text: str) -> bool:
    """What they have to pay or may do. Advertising asks what others want, or whether it may show them something."""
    return any(_OWN.search(each) and not _OFFERS.search(each) for each in questions(text))


def _reason(form: TicketFeatures, intent: Intent, confidence: float) -> str:
    shown = [phrase for phrases in form.concepts.values() for phrase in phrases][:4]
    hedge = (
        "It is probably"
        if confidence >= _SURE
        else "It may be"
        if confidence >= _UNSURE
        else "It is hard to say, perhaps"
    )
    heard = f", by the words {', '.join(shown)}" if shown else ""
    return f"{hedge} about {_ABOUT[intent]}{heard}."
