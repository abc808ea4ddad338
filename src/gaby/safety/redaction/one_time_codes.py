"""One-time codes: the few digits that somebody was sent to sign in or to confirm something, in several languages."""

import re
from collections.abc import Iterator

from gaby.safety.redaction.field_words import folded
from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

_GATE = frozenset(
    folded(
        "code codes codigo codice kod kode koodi otp totp 2fa mfa passcode tan mtan bestatigungscode "
        "verifizierungscode sicherheitscode einmalcode verificatiecode beveiligingscode bekraftelsekod engangskode "
        "time onetime engangskod код koden einmalpasswort"
    ).split()
)
_DIGITS = r"((?:[a-z]-)?[0-9](?:[ \-]?[0-9]){3,7})(?![0-9a-z]|[.,:][0-9]| ?[%€$])"
_PURPOSE = (
    r"(?:verification|verify|security|login|log-in|sign-in|signin|one-time|one time|onetime|confirmation|"
    r"authentication|authenticator|access|activation|recovery|2fa|mfa|otp|sms|two-factor)"
)
_ROMANCE = (
    r"(?:code|codigo|codice|kod|kode|код) (?:de |di |do |d')?(?:verification|confirmation|securite|connexion|"
    r"acces|validation|verificacion|confirmacion|seguridad|acceso|inicio de sesion|verifica|conferma|sicurezza|"
    r"accesso|verificacao|confirmacao|seguranca|acesso|weryfikacyjny|jednorazowy|potwierdzajacy|подтверждения)"
)
_COMPOUND = (
    r"(?:bestatigungs|verifizierungs|sicherheits|einmal|zugangs|anmelde|verificatie|beveiligings|bevestigings|toegangs|"
    r"bekraftelse|verifierings|engangs|bekreftelses)(?:code|kode|koden|kod|passwort)"
)
_LINK = r"(?: (?:is|was|lautet|ist|est|es|e|to|ar|er|:|=|for [\w ]{1,24}))?[ ]?[:=]?\s{1,3}"
_NAMED = re.compile(rf"(?:{_PURPOSE}[ \-](?:code|passcode|password|pin)|{_ROMANCE}|{_COMPOUND}){_LINK}{_DIGITS}")
_SHORT = re.compile(rf"\b(?:otp|totp|2fa|mfa|m?tan)(?: code)?(?: is)? ?[:=]? ?{_DIGITS}")
_YOURS = re.compile(
    r"\b(?:your|ihr|dein|votre|ton|tu|su|il tuo|il|seu|o seu|uw|je|twoj|din|ditt|the|my|mein|mon|mi|mijn|moj)"
    rf"(?: [\w\-]{{2,20}})? (?:code|codigo|codice|kod|kode)"
    rf"(?: (?:is|lautet|ist|est|es|e|to|ar|er))?[ ]?:?\s{{1,3}}{_DIGITS}(?!\s+[a-z]{{4,}})"
)
_BEFORE = re.compile(
    rf"(?<![0-9a-z.\-]){_DIGITS}(?: is| as|:)? (?:your|ihr|votre|su|tu|il tuo|seu|uw|je|twoj) [\w \-]{{0,32}}"
    r"(?:code|codigo|codice|kod|pin|passcode|password)"
)
_ENTER = re.compile(rf"\b(?:enter|use|type|eingeben|saisissez|introduce|gebruik|wpisz)(?: the)? code:? {_DIGITS}")
_FORMS = (_NAMED, _SHORT, _YOURS, _BEFORE, _ENTER)
# After these a code says what something is, and opens nothing.
_OTHER = re.compile(
    r"(?:order|error|exit|status|zip|area|country|postal|product|promo|discount|source|reference|invoice|response|"
    r"article|tracking|booking|item|sku|bar|qr|fehler|artikel)[ \-]?code"
)


def find_one_time_codes(sight: ScannedText) -> Iterator[TextSpan]:
    if sight.words.isdisjoint(_GATE):
        return
    for form in _FORMS:
        for match in form.finditer(sight.low):
            if not _OTHER.search(match[0]) and not _is_year(match[1]):
                yield TextSpan(match.start(1), match.end(1), "password", SpanCertainty.LIKELY)


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and digits[:2] in {"19", "20"}
