"""What a passage is found by: what stands above it, and its text."""

from collections.abc import Sequence


def searchable(title: str, headings: Sequence[str], text: str) -> str:
    """What its own first line says anyway is not said twice."""
    begins = text.lstrip().split("\n", 1)[0]
    above = [each for each in dict.fromkeys((title, *headings)) if each and each not in begins]
    return "\n".join([" > ".join(above), text]) if above else text
