"""Summaries: an answer in prose in which every sentence names its sources."""

from typing import Annotated

from pydantic import Field

from gaby.llm.embeddings.embed import Embed
from gaby.llm.messages import ModelResponse
from gaby.llm.skill import Skill, UnacceptableAnswer
from gaby.llm.tiers import Tier
from gaby.llm.untrusted_text import Inside, Outside
from gaby.mind import SummaryPassage, cited_sentences
from gaby.mind import summarise as extract_summary
from gaby.skills.base import PROMPTS, SkillInput, SkillOutput

NOTHING = "Nothing was found that answers this."


class SummarySource(SkillInput):
    citation: Inside
    text: Outside


class SummaryInput(SkillInput):
    question: Outside
    sources: Annotated[list[SummarySource], Field(max_length=100)]
    reader: Inside = "the person who asked"
    max_sentences: Annotated[int, Field(ge=1, le=30)] = 6
    doubts: Annotated[list[Outside], Field(max_length=30)] = Field(default_factory=list[Outside])
    """Sentences of an earlier answer that their sources did not confirm."""


class Summary(SkillOutput):
    text: str
    citations: list[str]
    """Every source that the text names, in the order in which it names them."""


def offline(given: SummaryInput, embed: Embed) -> Summary:
    passages = [SummaryPassage(source.citation, source.text) for source in given.sources]
    sentences = extract_summary(given.question, passages, embed, given.max_sentences).sentences
    if not sentences:
        return Summary(text=NOTHING, citations=[])
    lines = [f"{each.text} {' '.join(f'[{citation}]' for citation in each.citations)}" for each in sentences]
    cited = dict.fromkeys(citation for each in sentences for citation in each.citations)
    return Summary(text="\n".join(lines), citations=list(cited))


def read(given: SummaryInput, answer: ModelResponse) -> Summary:
    text = answer.text.strip()
    known = {source.citation for source in given.sources}
    cited = list(dict.fromkeys(each for sentence in cited_sentences(text) for each in sentence.citations))
    if not text:
        raise UnacceptableAnswer("Write something, or say that nothing was found.")
    if made_up := [each for each in cited if each not in known]:
        raise UnacceptableAnswer(f"There is no source [{made_up[0]}]. Cite only the sources that were given.")
    if lacking := uncited(text):
        raise UnacceptableAnswer(f"This sentence lacks its source in square brackets: {lacking[0][:200]}")
    return Summary(text=text, citations=cited)


def uncited(text: str) -> list[str]:
    """Sentences that name no source. To say that nothing was found needs none."""
    return [each.text for each in cited_sentences(text) if not each.citations and each.text != NOTHING]


skill = Skill(
    name="summarise",
    does="Answer a question in prose from sources, every sentence with the source it came from.",
    tier=Tier.BIG,
    takes=SummaryInput,
    gives=Summary,
    prompt_file=PROMPTS / "summarise.md.j2",
    fallback=offline,
    form="text",
    read=read,
    max_output_tokens=1024,
    example=SummaryInput(
        question="Why can ada@lanternfish.example not sign in, and what has to be done?",
        sources=[
            SummarySource(
                citation="directory.find_user#1",
                text='{"email": "ada@lanternfish.example", "state": "locked", "failed_sign_ins": 7}',
            ),
            SummarySource(
                citation="kb://runbooks/lock-out#L4-L9",
                text="After five failed sign-ins the account is locked. An operator unlocks it with unlock_user. "
                "The kitchen closes at six.",
            ),
        ],
    ),
)
