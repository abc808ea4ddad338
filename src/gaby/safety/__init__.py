"""Safety: facts in, verdict out. Nothing here touches a database, a network or a clock."""

from gaby.safety.arguments import Leaf, Role, lane, leaves, roles
from gaby.safety.binding import Bound, binding, canonical_json, digest, policy_version
from gaby.safety.carriers import clean_reply, find_carriers
from gaby.safety.decide import decide
from gaby.safety.egress import CarrierFact, carriers_in
from gaby.safety.facts import ApprovalFact, Facts, Policy, ToolFacts
from gaby.safety.guessing import guess
from gaby.safety.labelling import ResultContext, learn_result
from gaby.safety.plans import Plan, PlannedArgument, PlannedCall
from gaby.safety.provenance import Label, Ledger, Origin, Trace
from gaby.safety.redaction.dictionary import Dictionary
from gaby.safety.redaction.for_good import redacting_for_good
from gaby.safety.redaction.placeholders import PLACEHOLDER_GUIDE, Placeholders, tag_from
from gaby.safety.redaction.profiles import Profile, parse_profile
from gaby.safety.redaction.redactor import Redactor
from gaby.safety.redaction.spans import ALL_KINDS, SECRET_KINDS, Kind
from gaby.safety.scopes import LaneRules, MalformedScope, Scopes, check_scope, scope_path
from gaby.safety.verdicts import Concern, Quote, Verdict, ask

__all__ = [
    "ALL_KINDS",
    "PLACEHOLDER_GUIDE",
    "SECRET_KINDS",
    "ApprovalFact",
    "Bound",
    "CarrierFact",
    "Concern",
    "Dictionary",
    "Facts",
    "Kind",
    "Label",
    "LaneRules",
    "Leaf",
    "Ledger",
    "MalformedScope",
    "Origin",
    "Placeholders",
    "Plan",
    "PlannedArgument",
    "PlannedCall",
    "Policy",
    "Profile",
    "Quote",
    "Redactor",
    "ResultContext",
    "Role",
    "Scopes",
    "ToolFacts",
    "Trace",
    "Verdict",
    "ask",
    "binding",
    "canonical_json",
    "carriers_in",
    "check_scope",
    "clean_reply",
    "decide",
    "digest",
    "find_carriers",
    "guess",
    "lane",
    "learn_result",
    "leaves",
    "parse_profile",
    "policy_version",
    "redacting_for_good",
    "roles",
    "scope_path",
    "tag_from",
]
