"""Redaction of what is kept for ever: it says only that there was an address, not which of a run's."""

from collections.abc import Callable

from gaby.safety.redaction.placeholders import Placeholders, tag_from
from gaby.safety.redaction.redactor import Redactor


def redacting_for_good(redactor: Redactor, random: Callable[[int], bytes]) -> Callable[[str], str]:
    """Alike texts stay alike, and nothing can be put back."""

    def redact(text: str) -> str:
        placeholders = Placeholders(tag_from(random(8)))
        redacted = redactor.redact(text, placeholders, from_outside=True).text
        if not len(placeholders):
            return redacted  # Most texts; to look for what is not there would cost more than the rest.
        return placeholders.own.sub(lambda match: f"[{match[0][1:].partition(':')[0]}]", redacted)

    return redact
