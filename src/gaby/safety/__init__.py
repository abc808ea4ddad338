"""Safety: facts in, verdict out. Nothing here touches a database, a network or a clock."""

from typing import TYPE_CHECKING

from gaby.kernel.lazy_exports import lazy_exports
from gaby_connectors.sdk.manifest import Access

if TYPE_CHECKING:
    from gaby.safety.addresses import canonical_identity
    from gaby.safety.arguments import ArgumentLeaf, ArgumentRole, access_of, leaves, roles
    from gaby.safety.binding import ApprovalBinding, canonical_json, digest, policy_version
    from gaby.safety.decide import rate_reason
    from gaby.safety.egress import CarrierFact, carriers_in, links_in_lookups
    from gaby.safety.exfiltration import find_carriers
    from gaby.safety.facts import ApprovalFact, Facts, Policy, ToolFacts
    from gaby.safety.kinds import kind_of_argument
    from gaby.safety.manifest_guess import guess
    from gaby.safety.provenance import ArgumentTrace, Label, Origin, ProvenanceLedger, ValueUse
    from gaby.safety.readers import EVERYBODY, STAFF_ONLY, STAFF_READER, Disclosure, Reader, Readers, owned_by
    from gaby.safety.redaction.dictionary import Dictionary
    from gaby.safety.redaction.permanent_redaction import redacting_for_good
    from gaby.safety.redaction.placeholders import Placeholders, tag_from
    from gaby.safety.redaction.profiles import Profile, parse_profile
    from gaby.safety.redaction.redactor import Redactor
    from gaby.safety.redaction.spans import ALL_KINDS, PERSONAL_KINDS, Kind
    from gaby.safety.reply_markdown import clean_reply
    from gaby.safety.result_labels import ResultContext, learn_result, readable_part, readers_of_text, values_to_redact
    from gaby.safety.scopes import AccessRules, MalformedScope, Scopes, check_scope, scope_path
    from gaby.safety.verdicts import Concern, Quote, Verdict, ask

__all__ = [
    "ALL_KINDS",
    "EVERYBODY",
    "PERSONAL_KINDS",
    "STAFF_ONLY",
    "STAFF_READER",
    "Access",
    "AccessRules",
    "ApprovalBinding",
    "ApprovalFact",
    "ArgumentLeaf",
    "ArgumentRole",
    "ArgumentTrace",
    "CarrierFact",
    "Concern",
    "Dictionary",
    "Disclosure",
    "Facts",
    "Kind",
    "Label",
    "MalformedScope",
    "Origin",
    "Placeholders",
    "Policy",
    "Profile",
    "ProvenanceLedger",
    "Quote",
    "Reader",
    "Readers",
    "Redactor",
    "ResultContext",
    "Scopes",
    "ToolFacts",
    "ValueUse",
    "Verdict",
    "access_of",
    "ask",
    "canonical_identity",
    "canonical_json",
    "carriers_in",
    "check_scope",
    "clean_reply",
    "digest",
    "find_carriers",
    "guess",
    "kind_of_argument",
    "learn_result",
    "leaves",
    "links_in_lookups",
    "owned_by",
    "parse_profile",
    "policy_version",
    "rate_reason",
    "readable_part",
    "readers_of_text",
    "redacting_for_good",
    "roles",
    "scope_path",
    "tag_from",
    "values_to_redact",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "addresses": ("canonical_identity",),
        "arguments": ("ArgumentLeaf", "ArgumentRole", "access_of", "leaves", "roles"),
        "binding": ("ApprovalBinding", "canonical_json", "digest", "policy_version"),
        "decide": ("rate_reason",),
        "egress": ("CarrierFact", "carriers_in", "links_in_lookups"),
        "exfiltration": ("find_carriers",),
        "facts": ("ApprovalFact", "Facts", "Policy", "ToolFacts"),
        "kinds": ("kind_of_argument",),
        "manifest_guess": ("guess",),
        "provenance": ("ArgumentTrace", "Label", "Origin", "ProvenanceLedger", "ValueUse"),
        "readers": ("EVERYBODY", "STAFF_ONLY", "STAFF_READER", "Disclosure", "Reader", "Readers", "owned_by"),
        "redaction.dictionary": ("Dictionary",),
        "redaction.permanent_redaction": ("redacting_for_good",),
        "redaction.placeholders": ("Placeholders", "tag_from"),
        "redaction.profiles": ("Profile", "parse_profile"),
        "redaction.redactor": ("Redactor",),
        "redaction.spans": ("ALL_KINDS", "PERSONAL_KINDS", "Kind"),
        "reply_markdown": ("clean_reply",),
        "result_labels": ("ResultContext", "learn_result", "readable_part", "readers_of_text", "values_to_redact"),
        "scopes": ("AccessRules", "MalformedScope", "Scopes", "check_scope", "scope_path"),
        "verdicts": ("Concern", "Quote", "Verdict", "ask"),
    },
)
