"""What an approval is bound to: one call, of one tool as it was accepted, under one policy, until one moment."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from gaby.safety.facts import Policy


@dataclass(frozen=True)
class ApprovalBinding:
    workspace: str
    run: str
    connector: str
    tool: str
    fingerprint: str
    arguments: Mapping[str, Any]
    policy_version: str
    expires_at: datetime


def binding(bound: ApprovalBinding) -> str:
    return digest(asdict(bound) | {"expires_at": bound.expires_at.isoformat()})


def policy_version(policy: Policy) -> str:
    """Changes whenever an operator changes anything about what the connector may do."""
    said = asdict(policy) | {"scopes": policy.scopes.model_dump()}
    return digest(said)[:16]


def canonical_json(value: Any) -> str:
    """One spelling for one value, so that equal calls have equal hashes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """The same for equal values, however they are spelled."""
    return hashlib.sha256(canonical_json(value).encode(errors="surrogatepass")).hexdigest()
