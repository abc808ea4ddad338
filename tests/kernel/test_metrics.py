"""The metrics that dashboards and alerts rely on exist under their names, with their labels."""

import math

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from gaby.kernel.metrics import Metrics, render

pytestmark = pytest.mark.promise("O1")

CANONICAL = {
    "gaby_investigations_total": ("counter", {"workspace", "outcome"}),
    "gaby_investigations_duration_seconds": ("histogram", {"workspace", "outcome"}),
    "gaby_investigations_verdict_total": ("counter", {"workspace", "verdict"}),
    "gaby_llm_tokens_total": ("counter", {"workspace", "model", "purpose", "direction"}),
    "gaby_llm_cost_usd_total": ("counter", {"workspace", "model"}),
    "gaby_connector_calls_total": ("counter", {"workspace", "connector", "tool", "status"}),
    "gaby_connector_health": ("gauge", {"workspace", "connector"}),
    "gaby_safety_denials_total": ("counter", {"workspace", "rule"}),
    "gaby_approvals_pending": ("gauge", {"workspace"}),
    "gaby_chat_sessions_total": ("counter", {"workspace", "channel", "outcome"}),
    "gaby_chat_handoffs_total": ("counter", {"workspace", "channel"}),
    "gaby_rate_limit_rejections_total": ("counter", {"workspace", "surface"}),
    "gaby_ticket_queue_depth": ("gauge", {"workspace"}),
    "gaby_retrieval_hit_rate": ("gauge", {"workspace"}),
}
OURS = {
    "gaby_http_requests_total": ("counter", {"method", "route", "status"}),
    "gaby_http_request_duration_seconds": ("histogram", {"method", "route"}),
    "gaby_audit_rows_total": ("counter", {"workspace"}),
    "gaby_audit_verified": ("gauge", set[str]()),
    "gaby_build_info": ("gauge", {"version"}),
}


def touched() -> Metrics:
    metrics = Metrics()
    for counter, labels in (
        (metrics.investigations, ("w", "done")),
        (metrics.verdicts, ("w", "resolved")),
        (metrics.llm_tokens, ("w", "m", "planner", "in")),
        (metrics.llm_cost_usd, ("w", "m")),
        (metrics.connector_calls, ("w", "c", "t", "ok")),
        (metrics.safety_denials, ("w", "r")),
        (metrics.chat_sessions, ("w", "widget", "resolved")),
        (metrics.chat_handoffs, ("w", "widget")),
        (metrics.rate_limit_rejections, ("w", "api")),
        (metrics.http_requests, ("GET", "/", "200")),
        (metrics.audit_rows, ("w",)),
    ):
        counter.labels(*labels).inc()
    metrics.investigation_seconds.labels("w", "done").observe(3)
    metrics.http_request_seconds.labels("GET", "/").observe(0.01)
    metrics.connector_health.labels("w", "c").set(1)
    for gauge in (metrics.approvals_pending, metrics.ticket_queue_depth, metrics.retrieval_hit_rate):
        gauge.labels("w").set(1)
    metrics.build_info.labels("0.1.0").set(1)
    return metrics


def test_every_promised_metric_is_exported_with_its_type_and_labels() -> None:
    body, content_type = touched().render()
    found: dict[str, tuple[str, set[str]]] = {}
    for family in text_string_to_metric_families(body.decode()):
        for sample in family.samples:
            name = sample.name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
            if not name.endswith("_created"):
                found[name] = (family.type, set(sample.labels) - {"le"})
    assert len(CANONICAL) == 14
    assert found == CANONICAL | OURS
    assert content_type.startswith("text/plain")


def test_two_sets_of_metrics_do_not_collide() -> None:
    first, second = Metrics(), Metrics()
    first.investigations.labels("w", "done").inc()
    assert b'gaby_investigations_total{outcome="done"' in render(first.registry)[0]
    assert b'gaby_investigations_total{outcome="done"' not in render(second.registry)[0]


def test_a_given_registry_is_used_even_while_it_is_empty() -> None:
    registry = CollectorRegistry()
    assert Metrics(registry).registry is registry


def test_the_audit_is_neither_whole_nor_broken_before_it_was_verified() -> None:
    value = Metrics().registry.get_sample_value("gaby_audit_verified")
    assert value is not None
    assert math.isnan(value)


def test_hostile_label_values_cannot_forge_a_metric() -> None:
    metrics = Metrics()
    metrics.http_requests.labels("GET", 'x"} 1\ngaby_forged 1\n', "200").inc()
    names = {family.name for family in text_string_to_metric_families(metrics.render()[0].decode())}
    assert "gaby_forged" not in names
