"""Plays the questions of a set through the product as it is composed for users, with only the pages connected."""

from collections import Counter
from typing import Literal

from evals.questions.question_set import CustomerQuestion, pages_of, questions_of
from gaby.evals.drivers import investigate
from gaby.evals.environment import EvalEnvironment
from gaby.kernel.actors import Actor
from gaby.knowledge.new_source import NewSource
from gaby.tickets.canonical_ticket import IncomingTicket

QuestionGrade = Literal["right", "wrong", "handed_over"]


async def play_set(stage: EvalEnvironment, name: str, most: int | None = None) -> Counter[QuestionGrade]:
    """`wrong` is an answer that lacks a fact, or any answer to what no page answers."""
    actor = await stage.workspace(name)
    components = stage.gaby.knowledge.components
    async with stage.gaby.database.write(actor.workspace_id) as session:
        new = NewSource("docs", "folder", str(pages_of(name)), audience="public")
        source = await components.sources.add(session, actor, new)
    await components.syncer.sync(actor, source.id)
    grades: Counter[QuestionGrade] = Counter()
    for place, question in enumerate(questions_of(name)[:most]):
        grades[await _play(stage, actor, question, f"person{place}@mail{place}.example")] += 1
    return grades


async def _play(stage: EvalEnvironment, actor: Actor, question: CustomerQuestion, sender: str) -> QuestionGrade:
    gaby = stage.gaby
    incoming = IncomingTicket(external_id=question.id, title=question.title, body=question.body, requester_email=sender)
    async with gaby.database.write(actor.workspace_id) as session:
        ticket_id = (await gaby.tickets.add(session, actor, incoming)).ticket_id
    run = await investigate(stage, actor, ticket_id, _nobody)
    if run is None or run.verdict != "auto_resolved":
        return "handed_over"
    async with gaby.database.read(actor.workspace_id) as session:
        row = await gaby.tickets.intake.get(session, ticket_id)
        written = await gaby.tickets.intake.written(session, row)
    said = "\n".join(each.body for each in written.messages if each.author == "gaby" and not each.private)
    return "right" if question.is_answered_by(said) else "wrong"


async def _nobody() -> bool:
    return False
