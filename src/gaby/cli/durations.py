"""Spans of time as people write them on the command line."""

from datetime import timedelta

from pydantic import TypeAdapter, ValidationError

from gaby.kernel.errors import BadRequest
from gaby.settings import Duration

_DURATION: TypeAdapter[timedelta] = TypeAdapter(Duration)


def parse_duration(text: str | None) -> timedelta | None:
    if text is None:
        return None
    try:
        return _DURATION.validate_python(text)
    except ValidationError:
        raise BadRequest(f"{text!r} is no span of time. Write 30m, 12h or 1d.") from None
