"""The words that lexical search knows a text by. Both engines index exactly these, and questions are asked in them."""

from gaby.mind.words import terms as mind_terms


def terms(text: str) -> list[str]:
    """In order, with repetitions: how often a term stands in a passage counts."""
    return mind_terms(text)
