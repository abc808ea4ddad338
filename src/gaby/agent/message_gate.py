"""What an investigation sends to people, as messages that the safety path decides about."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gaby.agent.replies import tokens_in
from gaby.agent.run_context import InvestigationContext
from gaby.kernel.ids import ApprovalId
from gaby.llm.budget_ledger import OFFLINE
from gaby.mind import cited_sentences
from gaby.safety.reply_markdown import clean_reply
from gaby.tickets.models import Posting
from gaby.tickets.postings import PostingDecision
from gaby.tools import ToolCall, Tools
from gaby.tools.messages import MessageKind, OutgoingMessage
from gaby.tools.runs import Author, result_source


@dataclass(frozen=True)
class MessageGate:
    """The gate of one run. What it decides about is exactly what would be sent."""

    tools: Tools
    run: InvestigationContext
    drafts: bool = False
    """At the ticket's desk every reply waits for a person."""

    async def decide(self, posting: Posting, content: dict[str, Any]) -> PostingDecision:
        if (fallback := content.get("otherwise")) is not None and posting.approval_id is None:
            # Where a colleague goes on anyway, nobody is asked about words of courtesy.
            decision = await self._decide(posting, content, asks=False)
            if decision.outcome != "refuse" or not fallback:
                return decision
            return await self._decide(posting, {"body": fallback, "private": False, "fixed": True})
        return await self._decide(posting, content)

    async def _decide(self, posting: Posting, content: dict[str, Any], *, asks: bool = True) -> PostingDecision:
        kind = _kind(posting.kind, content)
        fixed = content.get("fixed") is True
        # Nobody is asked about a line that says no more than that somebody takes over.
        asks = asks and not (self.drafts and fixed)
        why = " ".join(self.run.memory.reasons)[:500]
        call = ToolCall(
            f"gaby.{kind}",
            _arguments(kind, content),
            posting.id,
            why=why,
            composed_by="rules" if fixed else self._author(),
        )
        released = () if fixed or kind != "reply" else _as_sent(self.run.memory.released)
        message = OutgoingMessage(kind, call, () if fixed else self._cited(), released)
        approval_id = ApprovalId(posting.approval_id) if posting.approval_id is not None else None
        drafts = self.drafts or content.get("suggestion") is True
        ruling = await self.tools.messages.decide(message, self.run.tools, approval_id, asks=asks, drafts=drafts)
        asked = ruling.approval
        return PostingDecision(
            outcome=ruling.outcome,
            rule=ruling.rule,
            reason=self.run.redact_own(ruling.reason),
            fence=ruling.fence,
            approval_id=asked.id if asked is not None else None,
            until=asked.expires_at if asked is not None else None,
            content=_content(kind, content, ruling.arguments) if ruling.arguments is not None else None,
        )

    def _author(self) -> Author:
        """Once a model has had a hand in what is said, nobody can tell any more what is woven into it."""
        memory = self.run.memory
        return "model" if memory.by_model or memory.written_by not in {None, OFFLINE} else "rules"

    def _cited(self) -> tuple[str, ...]:
        """The sources that the text tells of: results that it names, and pages that a sentence rests on alone. Naming
        a runbook beside what was found out by it tells nothing of the runbook. What a runbook itself wants to be told
        is not asked about."""
        released = frozenset(self.run.memory.released)
        said = [each for each in cited_sentences(self.run.memory.cited or "") if each.text not in released]
        alone = {
            token
            for sentence in said
            if all(token.startswith("doc:") for token in sentence.citations)
            for token in sentence.citations
        }
        pages = tuple(each.title for each in self.run.memory.passages if each.citation in alone)
        return cited_results(" ".join(f"[{token}]" for each in said for token in each.citations)) + pages


def _as_sent(sentences: Sequence[str]) -> tuple[str, ...]:
    """Also with the marks that a reply has before letters which Markdown would read."""
    return tuple(dict.fromkeys(form for each in sentences for form in (each, clean_reply(each))))


def cited_results(text: str) -> tuple[str, ...]:
    tools = [token.removeprefix("tool:").rpartition("#")[0] for token in tokens_in(text) if token.startswith("tool:")]
    return tuple(map(result_source, tools))


def _kind(kind: str, content: dict[str, Any]) -> MessageKind:
    match kind:
        case "reply" | "ack":
            return "note" if content["private"] else "reply"
        case "status" | "time":
            return kind
        case _:
            return "escalation"


def _arguments(kind: MessageKind, content: dict[str, Any]) -> dict[str, Any]:
    match kind:
        case "reply" | "note":
            return {"body": content["body"]}
        case "status":
            return {"verdict": content["verdict"]}
        case "time":
            return {"minutes": content["minutes"], "note": content["note"]}
        case "escalation":
            return {"text": json.dumps(content, sort_keys=True)}


def _content(kind: MessageKind, content: dict[str, Any], arguments: Any) -> dict[str, Any]:
    """An escalation is sent as it was decided; of the others a person may have changed the words."""
    return content if kind == "escalation" else {**content, **arguments}
