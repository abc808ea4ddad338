"""Building everything about tickets and their investigations out of the settings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2

from gaby.agent.escalations import Escalations
from gaby.agent.learning import LearningService
from gaby.agent.liveness import Liveness
from gaby.agent.persona import Persona, Personas
from gaby.agent.queue import RunQueue
from gaby.agent.run_postings import RunPostings
from gaby.agent.run_start import RunStarter
from gaby.agent.service import Agent
from gaby.agent.transitions import TransitionWriter
from gaby.audit import Appender
from gaby.kernel.database import Database
from gaby.knowledge.service import Knowledge
from gaby.llm.service import Models
from gaby.safety import Redactor, parse_profile, redacting_for_good
from gaby.settings import Settings
from gaby.tickets.desks import Desks
from gaby.tickets.intake import Intake
from gaby.tickets.receiver import TicketReceiver
from gaby.tickets.service import Tickets
from gaby.tools import ToolDependencies, Tools
from gaby.usage.budget_ledger import StoredBudgetLedger
from gaby.worker.runner import Runner
from gaby_connectors.sdk.address_guard import AddressPolicy

if TYPE_CHECKING:
    from gaby.agent.loop import InvestigationLoop
    from gaby.worker.jobs import Jobs

_SLOTS = {"sqlite": 8, "postgresql": 16}


def build_tickets(dependencies: ToolDependencies, http: httpx2.AsyncClient, settings: Settings) -> Tickets:
    redact = redacting_for_good(Redactor(parse_profile(settings.safety.profile)), dependencies.random)
    outside = AddressPolicy.allowing(settings.safety.inside)
    desks = Desks(dependencies.database, dependencies.clock, dependencies.ids, dependencies.vault, http, outside)
    intake = Intake(dependencies.clock, dependencies.ids, dependencies.vault, redact)
    receiver = TicketReceiver(
        dependencies.database, dependencies.clock, dependencies.ids, dependencies.vault, desks, intake
    )
    return Tickets(dependencies.clock, dependencies.ids, desks, intake, receiver)


@dataclass(frozen=True)
class AgentDependencies:
    """What investigations use."""

    tickets: Tickets
    tools: Tools
    models: Models
    knowledge: Knowledge
    budget_ledger: StoredBudgetLedger
    escalations: Escalations


def build_agent(
    dependencies: ToolDependencies, appender: Appender, agent_dependencies: AgentDependencies, settings: Settings
) -> Agent:
    tickets, tools, models, knowledge = (
        agent_dependencies.tickets,
        agent_dependencies.tools,
        agent_dependencies.models,
        agent_dependencies.knowledge,
    )
    escalations = agent_dependencies.escalations
    database, clock, ids = dependencies.database, dependencies.clock, dependencies.ids
    queue = RunQueue(database, clock, lease=settings.worker.lease)
    writer = TransitionWriter(database, appender)
    usual = Persona(
        iterations=settings.agent.iterations,
        seconds=int(settings.agent.max_time.total_seconds()),
        wait_seconds=int(settings.agent.max_wait.total_seconds()),
        outage_seconds=int(settings.agent.max_outage.total_seconds()),
        triage=settings.agent.triage,
    )
    personas = Personas(clock, usual)
    starter = RunStarter(clock, ids)
    database.on_events(starter.heard, first=True)

    def make() -> "InvestigationLoop":
        from gaby.agent.envelope import NoMemoryFacts, PlannerToolsCache
        from gaby.agent.final_answer import FinalAnswerWriter
        from gaby.agent.incident_grouping import IncidentGrouping
        from gaby.agent.loop import InvestigationLoop, LoopDependencies
        from gaby.agent.planning_step import PlanningStep
        from gaby.agent.ticket_reader import TicketReader
        from gaby.agent.tool_step import ToolStep
        from gaby.agent.verdict_step import VerdictStep
        from gaby.agent.write_back_step import WriteBackStep
        from gaby.tickets.postings import Poster

        toolboxes = PlannerToolsCache()
        poster = Poster(database, clock, dependencies.audit, tickets.desks, tickets.intake, escalations)
        planning_step = PlanningStep(
            database=database,
            clock=clock,
            ids=ids,
            tools=tools,
            models=models,
            knowledge=knowledge,
            tickets=TicketReader(database, dependencies.vault, tickets.intake),
            queue=queue,
            bursts=IncidentGrouping(database, clock, ids),
            facts=NoMemoryFacts(),
            toolboxes=toolboxes,
            degraded_above=settings.worker.degraded_above,
        )
        judge = VerdictStep(
            database=database,
            clock=clock,
            vault=dependencies.vault,
            tools=tools,
            models=models,
            knowledge=knowledge,
            toolboxes=toolboxes,
            postings=RunPostings(database, clock, ids, tickets.desks),
            answerer=FinalAnswerWriter(models, planning_step, dependencies.clock),
        )
        return InvestigationLoop(
            LoopDependencies(
                database=database,
                clock=clock,
                vault=dependencies.vault,
                audit=dependencies.audit,
                metrics=dependencies.metrics,
                tools=tools,
                budget_ledger=agent_dependencies.budget_ledger,
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
        vault=dependencies.vault,
        audit=dependencies.audit,
        queue=queue,
        writer=writer,
        liveness=Liveness(
            database=database,
            clock=clock,
            audit=dependencies.audit,
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


def build_runner(agent: Agent, dependencies: ToolDependencies, settings: Settings) -> Runner:
    return Runner(
        agent,
        dependencies.clock,
        slots=agent.slots,
        poll_every=settings.worker.poll_every,
        longest_call=settings.connectors.call_deadline.total_seconds(),
    )
