"""Messages to people: replies, notes, changes of status, time entries and escalations, decided like every other change.

They are tools of Gaby's own connector, with a manifest, a policy and kill switches; only the sending is the desk's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from gaby.audit import AuditLog, Fence
from gaby.kernel.clock import Clock
from gaby.kernel.database import Database
from gaby.kernel.ids import ApprovalId, WorkspaceId
from gaby.kernel.metrics import Metrics
from gaby.kernel.text_work import run_text_work
from gaby.mcp import ServerDefinitions, ServerKey, read_definitions
from gaby.safety import AccessRules, Concern, Policy, Scopes, Verdict, ask, policy_version
from gaby.safety.decide import decide
from gaby.tools import builtin, epochs
from gaby.tools.approvals import Approvals, as_fact, shown_question
from gaby.tools.catalogue import Catalogue, ConnectorEntry, ToolEntry, entries_of
from gaby.tools.gather import Circumstances, gather
from gaby.tools.manifests import read_manifests
from gaby.tools.models import Approval
from gaby.tools.runs import Run, ToolCall
from gaby_connectors.sdk.manifest import SERVER_META, TOOL_META, Audience, Autonomy, ToolManifest

MessageKind = Literal["reply", "note", "status", "time", "escalation"]

_DRAFT_MODE = "At this desk every reply waits for a person."
_TEXT = {"type": "string", "maxLength": 200_000}
_SAID = {**_TEXT, "pattern": r"\S"}
"""Somebody reads it, so it says something."""


def _tool(name: str, description: str, properties: dict[str, Any], manifest: ToolManifest) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {
        "name": name,
        "description": description,
        "inputSchema": schema,
        "_meta": {TOOL_META: manifest.model_dump(mode="json")},
    }


_STAFF = Audience.STAFF
_TOOLS = [
    _tool(
        "reply",
        "Post a reply on the ticket that its requester can read.",
        {"body": _SAID},
        ToolManifest(scope="write", path="tickets/reply", content=("body",)),
    ),
    _tool(
        "note",
        "Post a private note on the ticket, for colleagues.",
        {"body": _SAID},
        ToolManifest(scope="write", path="tickets/note", content=("body",), content_audience=_STAFF),
    ),
    _tool(
        "status",
        "Set the status of the ticket at its desk.",
        {"verdict": {"type": "string", "maxLength": 40}},
        ToolManifest(scope="write", path="tickets/status", plain=("verdict",), content_audience=_STAFF),
    ),
    _tool(
        "time",
        "Log the time that was spent.",
        {"minutes": {"type": "integer"}, "note": _TEXT},
        ToolManifest(
            scope="write", path="tickets/time", plain=("minutes",), content=("note",), content_audience=_STAFF
        ),
    ),
    _tool(
        "escalation",
        "Tell colleagues at the place that the workspace has set.",
        {"text": _TEXT},
        ToolManifest(scope="write", path="escalations", content=("text",), content_audience=_STAFF),
    ),
]
DEFINITIONS: ServerDefinitions = read_definitions(
    _TOOLS,
    server_name=builtin.NAME,
    server_version=builtin.VERSION,
    experimental={SERVER_META: {"version": builtin.VERSION}},
)
_MANIFESTS = read_manifests(DEFINITIONS, None)
_EVERYTHING = Scopes(write=AccessRules(allow=("**",)))


@dataclass(frozen=True)
class OutgoingMessage:
    kind: MessageKind
    call: ToolCall
    """Its id is the same however often the message is tried."""
    cited: Sequence[str] = ()
    """The sources of the ledger that the text names."""
    released: Sequence[str] = ()
    """Sentences of the text that a runbook of the company wants the requester to be told."""


@dataclass(frozen=True)
class MessageDecision:
    """What may happen with a message now."""

    outcome: Literal["send", "wait", "refuse"]
    rule: str
    reason: str
    fence: Fence | None = None
    """What must still hold when it is sent."""
    approval: Approval | None = None
    arguments: Mapping[str, Any] | None = None
    """What is sent; a person may have changed it."""


class MessageDecider:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        audit: AuditLog,
        metrics: Metrics,
        catalogue: Catalogue,
        approvals: Approvals,
    ) -> None:
        self._database = database
        self._clock = clock
        self._audit = audit
        self._metrics = metrics
        self._catalogue = catalogue
        self._approvals = approvals

    async def decide(
        self,
        message: OutgoingMessage,
        run: Run,
        approval_id: ApprovalId | None,
        *,
        asks: bool = True,
        drafts: bool = False,
    ) -> MessageDecision:
        """What a person must see first becomes a draft that waits for them, unless it is not worth to be asked. With
        `drafts` that is every reply."""
        snapshot = await self._catalogue.fresh(run.workspace_id)
        fence = epochs.fence(run.workspace_id, snapshot.epoch, run.fence)
        killed = snapshot.connectors[builtin.NAME].killed
        entry = message_entries(run.workspace_id, killed)[message.kind]
        if approval_id is not None:
            return await self._after_asking(message, entry, run, approval_id, fence)
        verdict = await self._verdict(message, entry, run, None)
        if drafts and message.kind == "reply" and verdict.outcome == "allow":
            verdict = ask([Concern("draft_mode", _DRAFT_MODE)], rehearse=False)
        call = message.call
        match verdict.outcome:
            case "allow":
                return MessageDecision("send", verdict.rule, verdict.reason, fence, arguments=call.arguments)
            case "ask" if not asks:
                return await self._refuse(message, run, verdict.rule, verdict.reason)
            case "ask":
                shown = await run_text_work(_size(call), shown_question, call, run, verdict, ())
                async with self._database.write(run.workspace_id) as session:
                    asked = await self._approvals.request(session, entry, call, run, verdict.rule, shown)
                return MessageDecision("wait", verdict.rule, verdict.reason, approval=asked)
            case "simulate" | "wait" | "deny":
                # Nobody counts messages, so none has to wait for a rate limit.
                return await self._refuse(message, run, verdict.rule, verdict.reason)

    async def _after_asking(
        self, message: OutgoingMessage, entry: ToolEntry, run: Run, approval_id: ApprovalId, fence: Fence
    ) -> MessageDecision:
        async with self._database.read(run.workspace_id) as session:
            approval = await self._approvals.get(session, approval_id)
            sealed = await self._approvals.call_of(session, approval)
        if approval.state == "waiting" and self._clock.now() < approval.expires_at:
            return MessageDecision("wait", "consent", "A person has not answered yet.", approval=approval)
        if approval.state in {"refused", "escalated"}:
            reason = f"{approval.decided_by} {'passed it on' if approval.state == 'escalated' else 'refused it'}"
            reason = f"{reason}: {approval.answer or ''}".strip(" :")
            return await self._refuse(message, run, f"approval.{approval.state}", reason)
        call = replace(message.call, id=sealed.id, arguments=sealed.arguments, resumed=approval.state == "used")
        verdict = await self._verdict(replace(message, call=call), entry, run, approval)
        if verdict.outcome != "allow":
            return await self._refuse(message, run, verdict.rule, verdict.reason)
        if approval.state != "used":
            async with self._database.write(run.workspace_id) as session:
                await self._approvals.use(session, run.actor, approval.typed_id)
        return MessageDecision("send", verdict.rule, verdict.reason, fence, approval, sealed.arguments)

    async def _refuse(self, message: OutgoingMessage, run: Run, rule: str, reason: str) -> MessageDecision:
        payload = {"tool": message.call.tool, "run_id": str(run.id), "rule": rule}
        await self._audit.append(run.workspace_id, run.actor, "tool.denied", payload)
        self._metrics.safety_denials.labels(str(run.workspace_id), rule).inc()
        return MessageDecision("refuse", rule, reason)

    async def _verdict(
        self, message: OutgoingMessage, entry: ToolEntry, run: Run, approval: Approval | None
    ) -> Verdict:
        call = message.call
        # What was begun in time may be tried again for as long as its desk is away.
        begun_at = approval.used_at if approval is not None and approval.state == "used" else None
        around = Circumstances(
            now=begun_at or self._clock.now(),
            approval=as_fact(approval, call) if approval is not None else None,
            composed_by=call.composed_by,
            cited=message.cited,
            released=message.released,
        )
        facts = await run_text_work(_size(call), gather, entry, call.arguments, run, around)
        if message.kind != "reply":
            # Colleagues have to see the addresses that a ticket holds, in order to judge it.
            facts = replace(facts, carriers=())
        return decide(facts, entry.connector.policy)


def _size(call: ToolCall) -> int:
    return sum(len(str(value)) for value in call.arguments.values())


def message_entries(workspace_id: WorkspaceId, killed: str | None) -> dict[str, ToolEntry]:
    """The tools behind messages. They are in no catalogue: nobody but the write-back uses them."""
    policy = Policy(Autonomy.ACT, _EVERYTHING, writes_per_minute=1_000_000)
    entry = ConnectorEntry(
        key=ServerKey(workspace_id, builtin.NAME),
        policy=policy,
        version=policy_version(policy),
        fingerprint=DEFINITIONS.fingerprint,
        quarantined=False,
        killed=killed,
    )
    return {each.facts.name: each for each in entries_of(entry, DEFINITIONS, _MANIFESTS)}
