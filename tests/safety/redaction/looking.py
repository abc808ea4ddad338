"""What a recogniser finds, as the texts that it found."""

from collections.abc import Callable, Iterable

from gaby.safety.redaction.sight import Sight
from gaby.safety.redaction.spans import Certainty, Span

Finder = Callable[[Sight], Iterable[Span]]


def found(finder: Finder, text: str) -> list[str]:
    return [text[span.start : span.end] for span in finder(Sight(text))]


def certainties(finder: Finder, text: str) -> list[Certainty]:
    return [span.certainty for span in finder(Sight(text))]
