"""Deliveries of GitHub. It signs the body and nothing else: neither the time nor the delivery's id."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gaby.tickets.adapters.adapter import RawTicket, VerifiedDelivery, WebhookRefused
from gaby.tickets.adapters.github.config import GitHubConfig
from gaby.tickets.adapters.github.normalization import external_id
from gaby.tickets.adapters.payload import entries, line, mapping, moment, within
from gaby.tickets.adapters.signatures import check_age, delivery_id, is_signed
from gaby.tickets.adapters.web import parsed

HEADER = "x-hub-signature-256"
EVENTS = ("issues", "issue_comment")
_GOING = frozenset({"deleted", "transferred"})


def verified(
    config: GitHubConfig, secret: str, headers: Mapping[str, str], body: bytes, now: datetime
) -> VerifiedDelivery:
    kind, _, signature = headers.get(HEADER, "").partition("=")
    if kind != "sha256" or not is_signed(secret, body, signature):
        raise WebhookRefused
    return VerifiedDelivery(delivery_id(body), _tickets(config, body, now))


def _tickets(config: GitHubConfig, body: bytes, now: datetime) -> list[RawTicket]:
    """None for what is no issue of these repositories, such as a pull request or GitHub's first greeting."""
    try:
        event = mapping(parsed(body))
    except ValueError:
        return []
    issue, comment = mapping(event.get("issue")), mapping(event.get("comment"))
    # GitHub tells it as its owner writes it; an issue has one id, whichever way it came.
    spelt = {each.lower(): each for each in config.repositories}
    repository = spelt.get(line(within(event, "repository", "full_name")).lower())
    issue_id = external_id(repository, issue)
    if issue_id is None or "pull_request" in issue or line(event.get("action"), 40) in _GOING:
        return []
    if not set(config.labels) <= {line(label.get("name")) for label in entries(issue.get("labels"))}:
        return []
    _check_fresh(issue, comment, now)
    payload: dict[str, Any] = {"repository": repository, "issue": issue, "comments": [comment] if comment else []}
    return [RawTicket(issue_id, payload)]


def _check_fresh(issue: Mapping[str, Any], comment: Mapping[str, Any], now: datetime) -> None:
    """The change itself has a time, and that is signed."""
    times = [at for each in (issue, comment) if (at := moment(each.get("updated_at")))]
    if not times:
        raise WebhookRefused
    check_age(max(times).timestamp(), now)
