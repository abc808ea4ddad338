"""Consents that runbooks want: changes which a person has to agree to first, whoever plans them."""

from collections.abc import Collection, Sequence

from gaby.mind.runbooks.reading import runbooks
from gaby.mind.situations import Found


def consents_wanted(passages: Sequence[Found], tools: Collection[str]) -> dict[str, str]:
    """For each tool, in the runbook's own words, what a person has to confirm."""
    short = {name.rpartition(".")[2]: name for name in tools}
    wanted: dict[str, str] = {}
    for book in runbooks([each for each in passages if each.trusted], frozenset({*tools, *short})):
        for branch in book.branches:
            for each in branch.wanted:
                if each.consent:
                    wanted.setdefault(short.get(each.tool, each.tool), each.consent)
    return wanted
