"""The contract: rules that any MCP server can be checked against before Gaby trusts it with work."""

from gaby_connectors.contract.report import Finding, ReportCard, Verdict
from gaby_connectors.contract.runner import check
from gaby_connectors.contract.samples import Samples, load_samples
from gaby_connectors.contract.target import HttpTarget, StdioTarget

__all__ = [
    "Finding",
    "HttpTarget",
    "ReportCard",
    "Samples",
    "StdioTarget",
    "Verdict",
    "check",
    "load_samples",
]
