"""Compliance profiles: which kinds of data leave a text before a model, a log or a memory sees it."""

from pydantic import BaseModel

from gaby.kernel.errors import Misconfigured
from gaby.safety.redaction.spans import ALL_KINDS, SECRET_KINDS, Kind, SpanCertainty


class UnknownProfile(Misconfigured):
    """There is no such compliance profile. Choose one of: default, gdpr, hipaa, soc2."""


class Profile(BaseModel, frozen=True):
    name: str
    kinds: frozenset[Kind]
    at_least: SpanCertainty
    """Below this certainty a number stays: half of all redactions would otherwise be order numbers."""


_ANYBODYS: frozenset[Kind] = frozenset({"card", "iban", "national_id", "email", "phone", "name", "personal"})
_EVERYWHERE = SECRET_KINDS | _ANYBODYS
_SYSTEMS: frozenset[Kind] = frozenset({"account", "ip", "mac"})

DEFAULT = Profile(name="default", kinds=_EVERYWHERE, at_least=SpanCertainty.LIKELY)
"""What harms a person or an account when it leaks. Network addresses stay: a support engineer reads them all day."""

SOC2 = Profile(name="soc2", kinds=_EVERYWHERE | _SYSTEMS, at_least=SpanCertainty.LIKELY)
"""Confidentiality of the customers' systems: also their account numbers and the addresses of their machines."""

GDPR = Profile(name="gdpr", kinds=ALL_KINDS - {"medical_id"}, at_least=SpanCertainty.POSSIBLE)
"""Personal data is whatever can be related to a person (article 4), and an online identifier can (recital 30): also
network addresses, customer numbers, postal addresses and dates of birth. When in doubt, a number is personal."""

HIPAA = Profile(name="hipaa", kinds=ALL_KINDS, at_least=SpanCertainty.POSSIBLE)
"""The identifiers of the safe harbour rule, 45 CFR 164.514(b)(2): as GDPR, and the numbers of medical records and
health plans. Dates other than of birth stay, for a ticket's own dates are not a patient's."""

_PROFILES = {profile.name: profile for profile in (DEFAULT, SOC2, GDPR, HIPAA)}


def parse_profile(setting: str) -> Profile:
    """The profile of a setting: `gdpr`, `GDPR`, `SOC 2`, `soc-2`."""
    name = setting.strip().lower().replace("-", "").replace(" ", "").replace("_", "")
    if name not in _PROFILES:
        raise UnknownProfile(profile=setting)
    return _PROFILES[name]
