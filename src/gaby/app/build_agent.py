"""Building everything about investigations out of the settings."""

from typing import TYPE_CHECKING

from gaby.agent.learning import LearningService
from gaby.agent.liveness import Liveness
from gaby.agent.persona import Persona, Personas
from gaby.agent.queue import RunQueue
from gaby.agent.service import Agent
from gaby.agent.transitions import TransitionWriter
from gaby.app.services import Services
from gaby.kernel.database import Database
from gaby.worker.runner import Runner

if TYPE_CHECKING:
    from gaby.agent.loop import InvestigationLoop
    from gaby.worker.jobs import Jobs

_SLOTS = {"sqlite": 8, "postgresql": 16}


def build_agent(services: Services) -> Agent:
    settings, database, clock, ids = services.settings, services.database, services.clock, services.ids
    tickets, tools, models, knowledge = services.tickets, services.tools, services.models, services.knowledge
    escalations, starter = services.escalations, services.run_starter
    queue = RunQueue(database, clock, lease=settings.worker.lease)
    writer = TransitionWriter(database, services.appender)
    usual = Persona(
        iterations=settings.agent.iterations,
        seconds=int(settings.agent.max_time.total_seconds()),
        wait_seconds=int(settings.agent.max_wait.total_seconds()),
        outage_seconds=int(settings.agent.max_outage.total_seconds()),
        triage=settings.agent.triage,
    )
    personas = Personas(clock, usual)

    def make() -> "InvestigationLoop":
        from gaby.agent.envelope import NoMemoryFacts, PlannerToolsCache
        from gaby.agent.final_answer import FinalAnswerWriter
        from gaby.agent.incident_grouping import IncidentGrouping
        from gaby.agent.loop import InvestigationLoop, LoopDependencies
        from gaby.agent.planning_step import PlanningStep
        from gaby.agent.run_postings import RunPostings
        from gaby.agent.ticket_reader import TicketReader
        from gaby.agent.tool_step import ToolStep
        from gaby.agent.verdict_step import VerdictStep
        from gaby.agent.write_back_step import WriteBackStep
        from gaby.tickets.postings import Poster

        toolboxes = PlannerToolsCache()
        poster = Poster(database, clock, services.audit, tickets.desks, tickets.intake, escalations)
        planning_step = PlanningStep(
            database=database,
            clock=clock,
            ids=ids,
            tools=tools,
            models=models,
            knowledge=knowledge,
            tickets=TicketReader(database, services.vault, tickets.intake),
            queue=queue,
            bursts=IncidentGrouping(database, clock, ids),
            facts=NoMemoryFacts(),
            toolboxes=toolboxes,
            degraded_above=settings.worker.degraded_above,
        )
        judge = VerdictStep(
            database=database,
            clock=clock,
            vault=services.vault,
            tools=tools,
            models=models,
            knowledge=knowledge,
            toolboxes=toolboxes,
            postings=RunPostings(database, clock, ids, tickets.desks),
            answerer=FinalAnswerWriter(models, planning_step, services.clock),
        )
        return InvestigationLoop(
            LoopDependencies(
                database=database,
                clock=clock,
                vault=services.vault,
                audit=services.audit,
                metrics=services.metrics,
                tools=tools,
                budget_ledger=services.budget_ledger,
                intake=tickets.intake,
                queue=queue,
                writer=writer,
                personas=personas,
                escalations=escalations,
                planning_step=planning_step,
                tool_step=ToolStep(database, clock, tools),
                judge=judge,
                finisher=WriteBackStep(clock, ids, poster, escalations, judge, tools),
            )
        )

    return Agent(
        database=database,
        clock=clock,
        vault=services.vault,
        audit=services.audit,
        queue=queue,
        writer=writer,
        liveness=Liveness(
            database=database,
            clock=clock,
            audit=services.audit,
            starter=starter,
            lease=settings.worker.lease,
            longest_call=settings.connectors.call_deadline,
        ),
        starter=starter,
        personas=personas,
        escalations=escalations,
        learning=LearningService(database, clock, knowledge),
        make=make,
        slots=settings.worker.slots or _SLOTS[database.dialect],
        degraded_above=settings.worker.degraded_above,
    )


def build_jobs(database: Database, runner: Runner) -> "Jobs":
    from gaby.worker.jobs import Jobs, prepare

    prepare(database)
    return Jobs(database, runner)


def build_runner(services: Services) -> Runner:
    settings = services.settings
    return Runner(
        services.agent,
        services.clock,
        slots=services.agent.slots,
        poll_every=settings.worker.poll_every,
        longest_call=settings.connectors.call_deadline.total_seconds(),
        started_at=services.started_at,
    )
