"""Checks: one line each on how a part of Gaby is, and what to do when it is not well."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

Health = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    name: str
    health: Health
    message: str
    fix: str | None = None


RunCheck = Callable[[], Awaitable[Check]]
