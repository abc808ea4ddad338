"""All tools of the sample company in one place."""

from gaby_connectors.sample_company import (
    access,
    accounts,
    billing,
    desk,
    devices,
    directory,
    integrations,
    status,
)
from gaby_connectors.sample_company.base import connector

__all__ = [
    "access",
    "accounts",
    "billing",
    "connector",
    "desk",
    "devices",
    "directory",
    "integrations",
    "status",
]
