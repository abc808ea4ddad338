"""How much time, memory and patience a connector gets."""

from dataclasses import dataclass


@dataclass(frozen=True)
class HostLimits:
    """Spans are in seconds, sizes in bytes."""

    start_timeout: float = 30
    """From the start of the process until its tools are known."""
    call_deadline: float = 60
    """For a call that brings no deadline of its own; starting and trying again count."""
    biggest_message: int = 16_000_000
    spill_above: int = 100_000
    """Larger answers go to disk; their beginning and end are given to the caller."""
    preview: int = 8_000
    """How much of the beginning, and of the end, of a large answer is given to the caller."""
    stderr_tail: int = 65_536
    bad_lines: int = 20
    """So many lines that are no messages are forgiven, since some servers print to stdout by mistake."""

    max_failures: int = 5
    failure_window: float = 300
    cool_down: float = 60
    """How long a degraded connector is left alone before a use wakes it."""
    backoff_base: float = 0.25
    backoff_cap: float = 30

    drain: float = 10
    """At a stop: for calls that are under way, then for the process to end by itself."""
    farewell: float = 0.5
    """From the closing of its stdin until SIGTERM, of the time for draining."""
    idle_stop: float = 900
    """A server that nobody used for so long is stopped, and woken by the next use."""
    ping_every: float = 30
    ping_timeout: float = 10
    kept_moves: int = 100
