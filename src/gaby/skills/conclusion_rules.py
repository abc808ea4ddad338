"""What the facts rule out in a conclusion, whoever concludes."""

from collections.abc import Collection, Sequence

from gaby.mind import cited_sentences
from gaby.skills.conclusion import Conclusion


def conclusion_errors(conclusion: Conclusion, sources: Collection[str], changes: Sequence[str]) -> list[str]:
    """What the facts rule out, whoever concludes. `changes` are the outcomes of all that was to be changed."""
    wrong: list[str] = []
    texts = (conclusion.reply, conclusion.note, conclusion.cause)
    cited = {name for text in texts for each in cited_sentences(text) for name in each.citations}
    if made_up := sorted(cited - frozenset(sources)):
        wrong.append(f"There is no source {', '.join(f'[{each[:60]}]' for each in made_up[:8])}.")
    if conclusion.verdict in {"auto_resolved", "needs_client"} and not conclusion.reply.strip():
        wrong.append(f"{conclusion.verdict} needs a reply for the requester.")
    if conclusion.verdict == "needs_client" and not (conclusion.question.strip() or "?" in conclusion.reply):
        wrong.append("needs_client needs a question for the requester.")
    if conclusion.verdict != "auto_resolved":
        return wrong
    if not any(each.citations for each in cited_sentences(conclusion.reply)):
        wrong.append("auto_resolved needs a reply that cites the source of what it says. Without one, hand it over.")
    if "asked" in changes or "unknown" in changes:
        wrong.append("It is not auto_resolved while a change waits for a person or nobody knows whether it was done.")
    return wrong
