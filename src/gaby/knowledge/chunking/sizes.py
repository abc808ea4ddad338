"""How large passages are, in tokens as they are estimated everywhere."""

from gaby.llm.tokens import estimate

SOFT_MAXIMUM = 800
"""Only exceeded by what must stay whole."""
HARD_MAXIMUM = 4 * SOFT_MAXIMUM
"""A table or a block of code beyond this is cut between its lines after all."""
SMALL = 100
"""Too little to stand alone if there is company."""
COMPANY = 320
"""How large small neighbours may become together."""
TINY = 40
"""Hardly more than a heading: better with a large neighbour than alone."""
NEGLIGIBLE = 20
"""A title, a page number, an import."""


def size(text: str, start: int, end: int) -> int:
    return estimate(text[start:end])
