"""What a recogniser finds, as the texts that it found."""

from collections.abc import Callable, Iterable

from gaby.safety.redaction.scanned_text import ScannedText
from gaby.safety.redaction.spans import SpanCertainty, TextSpan

Finder = Callable[[ScannedText], Iterable[TextSpan]]


def found_texts(finder: Finder, text: str) -> list[str]:
    return [text[span.start : span.end] for span in finder(ScannedText(text))]


def certainties(finder: Finder, text: str) -> list[SpanCertainty]:
    return [span.certainty for span in finder(ScannedText(text))]
