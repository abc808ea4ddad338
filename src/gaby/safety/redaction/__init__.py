"""Redaction: personal data and secrets leave a text before a model, a log, a trace or a memory sees it."""

from gaby.safety.redaction.detection import recognise
from gaby.safety.redaction.dictionary import Dictionary, KnownPerson
from gaby.safety.redaction.json_leaves import NotJson, TooDeep
from gaby.safety.redaction.placeholders import (
    MayRead,
    Placeholders,
    PlaceholdersUnreadable,
    tag_from,
)
from gaby.safety.redaction.profiles import DEFAULT, GDPR, HIPAA, SOC2, Profile, UnknownProfile, parse_profile
from gaby.safety.redaction.redactor import RedactedText, RedactedValue, Redactor
from gaby.safety.redaction.spans import ALL_KINDS, PERSONAL_KINDS, SECRET_KINDS, Kind, SpanCertainty, TextSpan

__all__ = [
    "ALL_KINDS",
    "DEFAULT",
    "GDPR",
    "HIPAA",
    "PERSONAL_KINDS",
    "SECRET_KINDS",
    "SOC2",
    "Dictionary",
    "Kind",
    "KnownPerson",
    "MayRead",
    "NotJson",
    "Placeholders",
    "PlaceholdersUnreadable",
    "Profile",
    "RedactedText",
    "RedactedValue",
    "Redactor",
    "SpanCertainty",
    "TextSpan",
    "TooDeep",
    "UnknownProfile",
    "parse_profile",
    "recognise",
    "tag_from",
]
