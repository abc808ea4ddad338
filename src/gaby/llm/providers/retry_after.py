"""When a provider wants to be asked again. Its clock may be wrong, and so may ours."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 600.0
_BELIEVABLE = 86_400.0


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds to wait, or nothing when what the provider says is no sensible wait."""
    wait = _number(headers.get("retry-after-ms"), scale=0.001)
    if wait is None:
        wait = _number(headers.get("retry-after"))
    if wait is None:
        wait = _until(headers.get("retry-after"), headers.get("date"), now)
    return min(wait, LONGEST_WAIT) if wait is not None and 0 <= wait <= _BELIEVABLE else None


def _number(text: str | None, scale: float = 1.0) -> float | None:
    try:
        return float(text.strip()) * scale if text and len(text) <= 20 else None
    except ValueError:
        return None


def _until(text: str | None, told_at: str | None, now: datetime) -> float | None:
    """Measured on the provider's own clock when it shows it, since ours may differ."""
    moment = _date(text)
    if moment is None:
        return None
    return (moment - (_date(told_at) or now)).total_seconds()


def _date(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text and len(text) <= 60 else None
        return None if moment is None else moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
