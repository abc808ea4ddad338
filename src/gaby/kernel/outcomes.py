"""How a call to a tool and an investigation can end, in the words that every package uses."""

from typing import Literal

CallOutcome = Literal["done", "simulated", "asked", "denied", "failed", "unknown"]

Verdict = Literal["auto_resolved", "needs_tech", "needs_client", "needs_l2", "failed", "skipped", "failed_budget"]
