"""The second look: after a change whatever showed the trouble is read again, and says whether it is gone."""

from gaby.mind.investigation import Diagnosis, SituationAnalysis
from gaby.mind.runbooks.evaluation import places_of
from gaby.mind.situations import PastCall, ProposedCall

_MOST = 6


def looks(investigation: SituationAnalysis) -> list[ProposedCall]:
    """Only after something was really changed that could have helped."""
    diagnosis = investigation.diagnosis
    if diagnosis is None or diagnosis.branch.settles or not investigation.remedies(diagnosis):
        return []
    return [
        ProposedCall(call.tool, call.arguments, "To see whether it helped.") for call in seen(investigation, diagnosis)
    ]


def seen(investigation: SituationAnalysis, diagnosis: Diagnosis) -> list[PastCall]:
    """The calls whose answers the conditions speak of."""
    scene = investigation.scene(diagnosis.runbook, investigation.before)
    calls = {record.call.key: record.call for record in diagnosis.by}
    for group in diagnosis.branch.conditions:
        tools = {collection.place[0] for condition in group for collection in places_of(condition, scene)}
        calls |= {call.key: call for call in investigation.before.calls if call.tool in tools}
    return sorted(calls.values(), key=lambda call: call.number)[:_MOST]


def helped(investigation: SituationAnalysis, diagnosis: Diagnosis) -> bool | None:
    """None when nobody could see it yet."""
    if not investigation.remedies(diagnosis):
        return None
    if diagnosis.branch.settles:
        return True
    again = {
        call.key for call in investigation.calls if call.number > investigation.last_change and call.outcome == "done"
    }
    if not all(call.key in again for call in seen(investigation, diagnosis)):
        return None
    holds = investigation.looked_again(diagnosis).holds
    # What shows only later cannot be seen now, neither the good nor the bad.
    return None if holds is None or diagnosis.branch.slow else not holds
