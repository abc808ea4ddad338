"""Metrics: what Gaby counts, in the Prometheus text format. `Metrics` lists every one of them."""

import math

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

# Investigations take seconds to minutes, requests milliseconds to seconds.
_INVESTIGATION_SECONDS = (1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800)
_REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Built once per process; a test builds its own. The label `workspace` holds the workspace's id."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry if registry is not None else CollectorRegistry()
        self._investigations()
        self._models_and_connectors()
        self._people()
        self._installation()

    def render(self) -> tuple[bytes, str]:
        return render(self.registry)

    def _investigations(self) -> None:
        self.investigations = self._counter("investigations", "Investigations finished.", "workspace", "outcome")
        self.investigation_seconds = Histogram(
            "gaby_investigations_duration_seconds",
            "How long investigations take, from start to verdict.",
            ("workspace", "outcome"),
            buckets=_INVESTIGATION_SECONDS,
            registry=self.registry,
        )
        self.verdicts = self._counter("investigations_verdict", "Investigations by verdict.", "workspace", "verdict")
        self.ticket_queue_depth = self._gauge("ticket_queue_depth", "Tickets waiting for Gaby.", "workspace")
        self.liveness_broken = self._gauge(
            "liveness_broken", "What nobody moves though somebody should, by rule; zero when all is well.", "rule"
        )
        self.schedule_late_seconds = self._gauge(
            "schedule_late_seconds", "How long nobody has done a schedule that is due; 0 when all is well.", "schedule"
        )
        self.retrieval_hit_rate = self._gauge(
            "retrieval_hit_rate", "Share of retrieved citations that the summary used, from 0 to 1.", "workspace"
        )

        self.knowledge_damage = self._gauge(
            "knowledge_damage", "1 while words or vectors of the index are lost and made anew, else 0.", "workspace"
        )

    def _models_and_connectors(self) -> None:
        self.llm_tokens = self._counter(
            "llm_tokens", "Tokens sent to and received from models.", "workspace", "model", "purpose", "direction"
        )
        self.llm_cost_usd = self._counter("llm_cost_usd", "Money spent on models, in US dollars.", "workspace", "model")
        self.connector_calls = self._counter(
            "connector_calls", "Calls to connector tools.", "workspace", "connector", "tool", "status"
        )
        self.connector_health = self._gauge(
            "connector_health", "1 when the connector answers, 0 when not.", "workspace", "connector"
        )
        self.safety_denials = self._counter("safety_denials", "Actions that safety refused.", "workspace", "rule")
        self.tool_waits = self._counter(
            "tool_waits", "Calls that were put off because of a limit that passes.", "workspace", "connector", "rule"
        )

    def _people(self) -> None:
        self.approvals_pending = self._gauge("approvals_pending", "Approvals waiting for a person.", "workspace")
        self.chat_sessions = self._counter(
            "chat_sessions", "Chat sessions that ended.", "workspace", "channel", "outcome"
        )
        self.chat_handoffs = self._counter("chat_handoffs", "Chats handed over to a person.", "workspace", "channel")
        self.rate_limit_rejections = self._counter(
            "rate_limit_rejections", "Requests refused by a rate limit.", "workspace", "surface"
        )

    def _installation(self) -> None:
        self.http_requests = self._counter("http_requests", "HTTP requests answered.", "method", "route", "status")
        self.http_request_seconds = Histogram(
            "gaby_http_request_duration_seconds",
            "How long HTTP requests take, until the last byte is sent.",
            ("method", "route"),
            buckets=_REQUEST_SECONDS,
            registry=self.registry,
        )
        self.audit_rows = self._counter("audit_rows", "Rows appended to the audit log.", "workspace")
        self.audit_verified = self._gauge(
            "audit_verified",
            "1 when the last verification of the audit log found it whole, else 0; NaN before the first.",
        )
        # Not 0, which would raise the alarm at every start.
        self.audit_verified.set(math.nan)
        self.audit_witness_up = self._gauge(
            "audit_witness_up", "1 when the witness signed the last checkpoint that it was shown, else 0.", "witness"
        )
        self.build_info = self._gauge("build_info", "Always 1; the version is the label.", "version")

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"gaby_{name}", meaning, labels, registry=self.registry)

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"gaby_{name}", meaning, labels, registry=self.registry)


def render(registry: CollectorRegistry) -> tuple[bytes, str]:
    """The body and the content type of `/metrics`."""
    return generate_latest(registry), CONTENT_TYPE_LATEST
