"""A ticket that names a code which a page explains is not put right by a runbook that knows nothing of the code."""

import pytest

from gaby.llm.embeddings.local_embed import LocalEmbed
from gaby.mind import FoundPassage, PastCall, Situation, ToolCard, conclude, next_step
from gaby.mind.declarations import ToolDeclaration

pytestmark = pytest.mark.promise("L15")

RUNBOOK = """---
runbook: true
---
# The barrier does not open

For drivers in front of a barrier that does not open.

1. Find the requester with `find_driver`, `email`: the requester's e-mail address.

If `permit` is `stale`: The barrier has an old list.
- Do `push_permit`.
- Tell the requester: Your permit was sent again.

Otherwise hand it to the yard.
"""
CODES = "# Codes on the barrier\n\n- **B-12**: the arm was hit. Call the yard.\n- **B-40**: the printer is empty.\n"
EMAIL = {"type": "object", "properties": {"email": {"type": "string"}}, "required": ["email"]}
TOOLS = [
    ToolCard("yard.find_driver", "Find a driver.", EMAIL, "read", ToolDeclaration(owner={"drivers[]": "email"})),
    ToolCard("yard.push_permit", "Send a permit again.", EMAIL, "write", ToolDeclaration()),
]
TOM = "tom@yard.example"
SEEN = PastCall(1, "yard.find_driver", {"email": TOM}, "done", "read", {"drivers": [{"email": TOM, "permit": "stale"}]})


@pytest.mark.parametrize(
    ("ticket", "changes"),
    [
        ("I stand in front of the barrier and it does not open.", True),
        ("I stand in front of the barrier and it does not open. It shows B-12.", False),
    ],
)
def test_a_code_that_the_runbook_does_not_know_stops_its_changes(ticket: str, changes: bool) -> None:
    embed = LocalEmbed()
    pages = [FoundPassage("doc:yard/barrier.md#L1-L16", "The barrier does not open", RUNBOOK, runbook=True)]
    pages.append(FoundPassage("doc:docs/codes.md#L1-L4", "Codes on the barrier", CODES))
    situation = Situation(
        "Barrier", ticket, TOM, requester_verified=True, searched=True, passages=pages, calls=[SEEN], tools=TOOLS
    )
    step = next_step(situation, embed)
    assert ([call.tool for call in step.calls] == ["yard.push_permit"]) is changes
    if not changes:
        assert conclude(situation, embed).judgement.verdict != "auto_resolved"
