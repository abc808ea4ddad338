"""The sample company at a moment that does not move."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gaby_connectors.sample_company.config import SampleCompanyConfig

NOW = datetime(2030, 3, 4, 9, 0, tzinfo=UTC)

SAMPLES: dict[str, dict[str, Any]] = {
    "search_users": {"query": "nora"},
    "get_user": {"user_id": "usr_001"},
    "list_logins": {"user_id": "usr_001"},
    "list_groups": {"account_id": "acc_01"},
    "search_accounts": {"query": "bright"},
    "get_account": {"account_id": "acc_05"},
    "list_invoices": {"account_id": "acc_03"},
    "list_charges": {"account_id": "acc_03"},
    "list_devices": {"account_id": "acc_06"},
    "list_agent_releases": {},
    "list_api_keys": {"account_id": "acc_02"},
    "list_webhooks": {"account_id": "acc_02"},
    "list_deliveries": {"webhook_id": "whk_021"},
    "list_incidents": {},
    "get_incident": {"incident_id": "inc_31"},
    "list_deploys": {},
    "search_tickets": {"query": "export"},
    "get_ticket": {"ticket_id": "tkt_201"},
    "unlock_user": {"user_id": "usr_001"},
    "reset_mfa": {"user_id": "usr_002"},
    "add_user_to_group": {"user_id": "usr_003", "group_id": "grp_011"},
    "remove_user_from_group": {"user_id": "usr_002", "group_id": "grp_011"},
    "delete_user": {"user_id": "usr_004"},
    "refund_charge": {"charge_id": "ch_03002", "amount_cents": 100, "reason": "double charge"},
    "restart_agent": {"device_id": "dev_0690"},
    "resend_deliveries": {"webhook_id": "whk_021"},
    "add_note": {"ticket_id": "tkt_201", "text": "hello"},
    "send_email": {"to": "nora.lindqvist@brightbakery.example", "subject": "Hi", "body": "Hello"},
}
"""Arguments that work, for every tool."""


def config(folder: Path) -> SampleCompanyConfig:
    return SampleCompanyConfig(folder=folder, now=NOW)
