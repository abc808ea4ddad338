"""A runbook played on a ticket: every read is made on the one path to tools, every change is only simulated."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gaby.kernel.actors import Actor
from gaby.kernel.clock import Clock
from gaby.kernel.ids import IdFactory
from gaby.llm.embeddings.embed import Embed
from gaby.mind import FoundPassage, PastCall, ProposedCall, RuleConclusion, Situation, ToolCard, conclude, next_step
from gaby.mind.investigation import SituationAnalysis
from gaby.mind.replies import note_text, value_of
from gaby.mind.runbooks import Branch, EvaluationContext, evaluate
from gaby.mind.runbooks.conditions import Condition, CountCondition, FieldTest, SameValue
from gaby.mind.runbooks.evaluation import places_of
from gaby.mind.withheld_changes import withheld_changes
from gaby.runbooks.live_choice import LiveChoice, live_choice
from gaby.runbooks.schemas import (
    LiveChoiceOut,
    TrialCallOut,
    TrialCauseOut,
    TrialConditionOut,
    TrialOut,
    WithheldOut,
)
from gaby.safety import EVERYBODY
from gaby.tools import Denied, Done, Failed, RetryLater, Run, Simulated, ToolCall, ToolOutcome, Tools

_MOST_STEPS = 20
_SHOWN_VALUES = 3
_WOULD = {
    "allow": "it would be done",
    "ask": "a person would be asked first",
    "simulate": "it would only be simulated",
    "wait": "it would be done later",
}


@dataclass(frozen=True)
class TrialTicket:
    title: str
    text: str
    requester: str | None
    verified: bool = True
    id: str | None = None


@dataclass(frozen=True)
class Trial:
    tools: Tools
    ids: IdFactory
    clock: Clock
    embed: Embed
    cards: Sequence[ToolCard]
    pages: Callable[[Situation], Awaitable[list[FoundPassage]]]
    """What an investigation would find for a ticket."""
    consents: Mapping[str, str]
    """What other pages want a person to confirm, for each tool."""

    async def play(self, actor: Actor, page: FoundPassage, ticket: TrialTicket) -> TrialOut:
        run = self._run(actor, ticket)
        situation = Situation(
            ticket.title,
            ticket.text,
            ticket.requester,
            requester_verified=ticket.verified and ticket.requester is not None,
            searched=True,
            passages=[page],
            tools=self.cards,
            ticket_id=ticket.id,
            now=self.clock.now(),
            follow=page.citation,
        )
        trial_calls: list[TrialCallOut] = []
        for _ in range(_MOST_STEPS):
            step = next_step(situation, self.embed)
            if step.kind != "call":
                break
            for planned in step.calls:
                seen = await self._call(run, planned, len(situation.calls) + 1)
                situation = replace(situation, calls=[*situation.calls, seen])
                trial_calls.append(_trial_call(planned, seen))
        live = live_choice(situation, await self.pages(situation), self.embed)
        return self._ended(situation, trial_calls, conclude(situation, self.embed), live)

    def _run(self, actor: Actor, ticket: TrialTicket) -> Run:
        """As in an investigation: what the ticket says vouches for nothing."""
        principals = frozenset({ticket.requester} if ticket.verified and ticket.requester else ())
        run = self.tools.run(actor, principals=principals, requester=ticket.requester or "")
        text = f"{ticket.title}\n\n{ticket.text}"
        run.ledger.read_external("the ticket", text)
        run.ledger.reading.read_text("the ticket", text, EVERYBODY)
        return run

    async def _call(self, run: Run, planned: ProposedCall, number: int) -> PastCall:
        card = next(card for card in self.cards if card.name == planned.tool)
        seen = PastCall(number, planned.tool, planned.arguments, "done", card.access)
        call = ToolCall(
            planned.tool,
            planned.arguments,
            self.ids.new(),
            why=planned.why,
            rehearse=card.access == "write",
            composed_by="rules",
        )
        if card.access == "read":
            return _seen(seen, await self.tools.invoker.invoke(call, run))
        consent = planned.consent or self.consents.get(planned.tool, "")
        verdict = await self.tools.invoker.explain(replace(call, rehearse=False, consent=consent), run)
        if verdict.outcome == "deny":
            return replace(seen, outcome="denied", reason=verdict.reason)
        seen = replace(seen, outcome="simulated", reason=f"{_WOULD[verdict.outcome]}: {verdict.reason}")
        snapshot = await self.tools.catalogue.snapshot(run.workspace_id)
        if not snapshot.tool(planned.tool).facts.can_rehearse:
            return seen
        # Whoever wants a rehearsal never gets more than one: a tool that cannot be rehearsed was left out above.
        match await self.tools.invoker.invoke(call, run):
            case Simulated(structured=structured, shown=shown):
                return replace(seen, result=structured if structured is not None else shown)
            case Failed(message=message):
                return replace(seen, outcome="failed", reason=message)
            case _:
                return seen

    def _with_changes(self, situation: Situation) -> RuleConclusion:
        """As it would be after the changes that nobody has to agree to."""
        return conclude(replace(situation, calls=[_as_if_done(call) for call in situation.calls]), self.embed)

    def _ended(
        self, situation: Situation, trial_calls: list[TrialCallOut], ended: RuleConclusion, live: LiveChoice
    ) -> TrialOut:
        investigation = SituationAnalysis(situation, self.embed)
        runbook = investigation.all_runbooks[0]
        scene = investigation.scene(runbook, investigation.before)
        return TrialOut(
            runbook=runbook.title,
            fit=live.own_fit,
            followed=bool(investigation.fitting_runbooks),
            live=LiveChoiceOut(
                this=live.is_own,
                runbook=live.fitting.runbook.title if live.fitting else "",
                page=live.page,
                fit=live.fitting.fit if live.fitting else 0.0,
            ),
            calls=trial_calls,
            withheld=_withheld(investigation),
            causes=[_tried(branch, scene) for branch in runbook.branches if branch.conditions],
            cause=ended.cause,
            verdict=ended.judgement.verdict,
            reasons=list(ended.judgement.reasons),
            reply=[each.text for each in self._with_changes(situation).sentences],
            notes=[each.text for each in ended.notes],
        )


def _withheld(investigation: SituationAnalysis) -> list[WithheldOut]:
    if (diagnosis := investigation.diagnosis) is None:
        return []
    changes = withheld_changes(investigation, diagnosis, note_text(investigation, diagnosis))
    return [WithheldOut(tool=each.tool, arguments=each.arguments, why=each.why) for each in changes]


def _as_if_done(call: PastCall) -> PastCall:
    done = call.outcome == "simulated" and call.reason.startswith(_WOULD["allow"])
    return replace(call, outcome="done") if done else call


def _tried(branch: Branch, scene: EvaluationContext) -> TrialCauseOut:
    whole = evaluate(branch.conditions, scene)
    single = [each for group in branch.conditions for each in group]
    return TrialCauseOut(
        line=branch.line,
        condition=branch.words,
        holds=whole.holds,
        conditions=[tried_condition(each, scene) for each in single],
    )


def tried_condition(condition: Condition, scene: EvaluationContext) -> TrialConditionOut:
    """Whether it holds, with the values of the rows that it speaks of."""
    result = evaluate([[condition]], scene)
    names: list[str] = []
    match condition:
        case FieldTest(ref=ref) | SameValue(ref=ref):
            names = [ref.name]
        case CountCondition(tests=tests):
            names = [test.ref.name for test in tests]
        case _:
            pass
    looked_at = [record for place in places_of(condition, scene) for record in place.records]
    records = result.by or scene.ownership.readable(looked_at)
    values = [f"{name}: {value_of(each.get(name))}" for each in records for name in names if name in each.fields]
    shown = list(dict.fromkeys(values))[:_SHOWN_VALUES]
    return TrialConditionOut(condition=condition.words, holds=result.holds, values=shown, why=result.why)


def _seen(seen: PastCall, outcome: ToolOutcome) -> PastCall:
    match outcome:
        case Done(structured=structured, text=text):
            return replace(seen, result=structured if structured is not None else text)
        case Simulated(structured=structured, shown=shown):
            return replace(seen, outcome="simulated", result=structured if structured is not None else shown)
        case Denied(verdict=verdict):
            return replace(seen, outcome="denied", reason=verdict.reason)
        case Failed(message=message) | RetryLater(message=message):
            return replace(seen, outcome="failed", reason=message)
        case _:
            return replace(seen, outcome="unknown", reason="Nobody can say what came of it.")


def _trial_call(planned: ProposedCall, seen: PastCall) -> TrialCallOut:
    return TrialCallOut(
        tool=planned.tool,
        arguments=dict(planned.arguments),
        why=planned.why,
        outcome=seen.outcome,
        reason=seen.reason,
        result=seen.result,
    )
