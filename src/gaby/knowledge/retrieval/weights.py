"""How much each sign counts. All numbers of ranking are here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ConfidenceWeights:
    """From signs to the likelihood that a passage helps: a logistic regression of passages that answer against the best
    passages for questions of other sets, on the cosines of `local/wordllama`, with the whole and with a third of each
    corpus; then rounded. `python -m benchmarks.retrieval --data DIR --choose` fits it again, on whole corpora only.
    Cosines of other models have other sizes, and for them it is not calibrated."""

    always: float = -3.6
    meaning: float = 5.0
    """Of the cosine of the whole question."""
    part: float = 8.0
    """Of the cosine of the part of the question that fits best."""
    covered: float = 7.0
    """Of the share of the words of that part that the passage has, the rare ones counting more."""
    known: float = 5.0
    """Of the share of the words of the question that the corpus has."""
    size: float = -1.1
    """Of the logarithm of the number of passages: among many, one that looks near is found by chance."""
    largest: int = 2000
    """Beyond this nothing was measured, and larger corpora are taken for as large."""


@dataclass(frozen=True)
class RankingWeights:
    """Chosen by hand on four public sets together: long scenarios of a bank's customers, two of requests for tools,
    questions about alerts. One weight was changed at a time and all four were looked at, so none of them is unseen. The
    top is flat: a tenth more or less is mostly within a point, so round numbers were taken. What weights are worth on
    a set they were not chosen on is told by `python -m benchmarks.retrieval --data DIR --choose`, which starts from
    equal weights."""

    words: float = 0.3
    """Of lexical search, over all queries together."""
    meaning: float = 0.5
    """Of the cosine of the whole question."""
    part: float = 0.3
    """Of the cosine of the part of the question that fits best."""
    document: float = 0.2
    """Of the cosine of the whole document."""
    reading: float = 0.5
    """Of the second look."""
    neighbour: float = 0.05
    """Of the better one of the passages before and after, as a share of its score."""

    exact: float = 0.4
    """In the second look: of the words of the question, as often as it says them."""
    pairs: float = 0.4
    """In the second look: of words that stand side by side in the question and in the passage."""
    title: float = 0.3
    """In the second look: of words of the question in the title and the headings."""
    shortlist: int = 40
    """How many passages are looked at a second time."""

    same_document: float = 0.1
    """Taken off for each passage of the same document that stands before."""
    twin: float = 1.0
    """Taken off for a passage that says what one before it said."""
    twins: float = 0.99
    """The cosine from which on two passages say the same."""

    certainty: ConfidenceWeights = ConfidenceWeights()
    threshold: float = 0.5
    """Of confidence: when the best passage has less, nothing is returned."""


DEFAULT = RankingWeights()
