"""The contract: rules that any MCP server can be checked against before Gaby trusts it with work."""

from gaby_connectors.contract.report import ReportCard, RuleResult, Verdict
from gaby_connectors.contract.runner import check
from gaby_connectors.contract.samples import SampleArguments, load_samples
from gaby_connectors.contract.target import HttpTarget, StdioTarget

__all__ = [
    "HttpTarget",
    "ReportCard",
    "RuleResult",
    "SampleArguments",
    "StdioTarget",
    "Verdict",
    "check",
    "load_samples",
]
