"""Building everything about tickets and their investigations out of the settings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from gaby.agent.edges import EdgeWriter
from gaby.agent.escalations import Escalations
from gaby.agent.learning import Learning
from gaby.agent.liveness import Liveness
from gaby.agent.persona import Persona, Personas
from gaby.agent.queue import Queue
from gaby.agent.service import Agent
from gaby.agent.starting import Starter
from gaby.audit import Appender
from gaby.kernel.database import Database
from gaby.knowledge.service import Knowledge
from gaby.llm.service import Models
from gaby.safety import Redactor, parse_profile, redacting_for_good
from gaby.settings import Settings
from gaby.tickets.desks import Desks
from gaby.tickets.intake import Intake
from gaby.tickets.receiving import Receiver
from gaby.tickets.service import Tickets
from gaby.tools import Ground, Tools
from gaby.usage.books import KeptBooks
from gaby.worker.runner import Runner
from gaby_connectors.sdk.outside_addresses import OutsideAddresses

if TYPE_CHECKING:
    from gaby.agent.loop import Loop
    from gaby.worker.jobs import Jobs

_SLOTS = {"sqlite": 8, "postgresql": 16}


def build_tickets(ground: Ground, http: httpx2.AsyncClient, settings: Settings) -> Tickets:
    redact = redacting_for_good(Redactor(parse_profile(settings.safety.profile)), ground.random)
    outside = OutsideAddresses.allowing(settings.safety.inside)
    desks = Desks(ground.database, ground.clock, ground.ids, ground.vault, http, outside)
    intake = Intake(ground.clock, ground.ids, ground.vault, redact)
    receiver = Receiver(ground.database, ground.clock, ground.ids, ground.vault, desks, intake)
    return Tickets(ground.clock, ground.ids, desks, intake, receiver)


@dataclass(frozen=True)
class Rooms:
    """What investigations use."""

    tickets: Tickets
    tools: Tools
    models: Models
    knowledge: Knowledge
    books: KeptBooks
    escalations: Escalations


def build_agent(ground: Ground, appender: Appender, rooms: Rooms, settings: Settings) -> Agent:
    tickets, tools, models, knowledge = rooms.tickets, rooms.tools, rooms.models, rooms.knowledge
    escalations = rooms.escalations
    database, clock, ids = ground.database, ground.clock, ground.ids
    queue = Queue(database, clock, lease=settings.worker.lease)
    writer = EdgeWriter(database, appender)
    usual = Persona(
        iterations=settings.agent.iterations,
        seconds=int(settings.agent.max_time.total_seconds()),
        wait_seconds=int(settings.agent.max_wait.total_seconds()),
        outage_seconds=int(settings.agent.max_outage.total_seconds()),
        triage=settings.agent.triage,
    )
    personas = Personas(clock, usual)
    starter = Starter(clock, ids)
    database.on_events(starter.heard, first=True)

    def make() -> "Loop":
        from gaby.agent.acting import Hands
        from gaby.agent.bursts import Bursts
        from gaby.agent.envelope import NoFacts, Toolboxes
        from gaby.agent.final_answer import Answerer
        from gaby.agent.finishing import Finisher
        from gaby.agent.judging import Judge
        from gaby.agent.loop import Loop, LoopParts
        from gaby.agent.thinking import Thinking
        from gaby.agent.ticket_reader import TicketReader
        from gaby.tickets.postings import Poster

        toolboxes = Toolboxes()
        poster = Poster(database, clock, ground.audit, tickets.desks, tickets.intake, escalations)
        thinking = Thinking(
            database=database,
            clock=clock,
            ids=ids,
            tools=tools,
            models=models,
            knowledge=knowledge,
            tickets=TicketReader(database, ground.vault, tickets.intake),
            queue=queue,
            bursts=Bursts(database, clock, ids),
            facts=NoFacts(),
            toolboxes=toolboxes,
            degraded_above=settings.worker.degraded_above,
        )
        judge = Judge(
            database=database,
            clock=clock,
            ids=ids,
            vault=ground.vault,
            tools=tools,
            models=models,
            knowledge=knowledge,
            desks=tickets.desks,
            toolboxes=toolboxes,
            answerer=Answerer(models, thinking, ground.clock),
        )
        return Loop(
            LoopParts(
                database=database,
                clock=clock,
                vault=ground.vault,
                audit=ground.audit,
                metrics=ground.metrics,
                tools=tools,
                books=rooms.books,
                intake=tickets.intake,
                queue=queue,
                writer=writer,
                personas=personas,
                escalations=escalations,
                thinking=thinking,
                hands=Hands(database, clock, tools),
                judge=judge,
                finisher=Finisher(clock, ids, poster, escalations, judge, tools),
            )
        )

    return Agent(
        database=database,
        clock=clock,
        vault=ground.vault,
        audit=ground.audit,
        queue=queue,
        writer=writer,
        liveness=Liveness(
            database=database,
            clock=clock,
            audit=ground.audit,
            starter=starter,
            lease=settings.worker.lease,
            longest_call=settings.connectors.call_deadline,
        ),
        starter=starter,
        personas=personas,
        escalations=escalations,
        learning=Learning(database, clock, knowledge),
        make=make,
        slots=settings.worker.slots or _SLOTS[database.dialect],
        degraded_above=settings.worker.degraded_above,
    )


def build_jobs(database: Database, runner: Runner) -> "Jobs":
    from gaby.worker.jobs import Jobs, prepare

    prepare(database)
    return Jobs(database, runner)


def build_runner(agent: Agent, ground: Ground, settings: Settings) -> Runner:
    return Runner(
        agent,
        ground.clock,
        slots=agent.slots,
        poll_every=settings.worker.poll_every,
        longest_call=settings.connectors.call_deadline.total_seconds(),
    )
