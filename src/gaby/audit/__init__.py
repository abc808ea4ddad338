"""The audit log: what was decided and done, in rows that nobody can change unnoticed."""

from gaby.audit.anchors import AnchorFile, AnchorPlace, Anchors, AnchorWebhook
from gaby.audit.checkpointer import Checkpointer, Pace
from gaby.audit.checkpoints import CheckpointTaker
from gaby.audit.cosignatures import CosignatureFile
from gaby.audit.errors import (
    AuditUnavailable,
    AuditWouldWaitForItself,
    CheckpointRefused,
    FenceBroken,
    IntentClosed,
    Malformed,
    NotCanonical,
    OutcomeNotWritten,
    PayloadTooLarge,
    ProofRejected,
    SigningKeyUnusable,
    WitnessSilent,
    WitnessUnreachable,
)
from gaby.audit.fences import Fence
from gaby.audit.findings import Finding, FindingKind, Report
from gaby.audit.formats import json_line, syslog_line
from gaby.audit.intents import Intent, Outcome, PendingIntent
from gaby.audit.key_pins import PinFile
from gaby.audit.keys import GivenKey, KeyFile, KeyHolder, Rotation
from gaby.audit.live import OutsideEvidence, export_to, verify_live
from gaby.audit.log import AuditLog
from gaby.audit.proofs import check_consistency, check_inclusion
from gaby.audit.prover import consistency_proof, inclusion_proof
from gaby.audit.recall import Recalled, recall_calls
from gaby.audit.rows import AuditRow, Draft
from gaby.audit.sealing import Sealer
from gaby.audit.signing import read_pem
from gaby.audit.source import snapshot
from gaby.audit.store import Appender
from gaby.audit.tail import Cursor, CursorFile, WebhookSink, follow
from gaby.audit.verify import Expectations, verify_file, verify_lines
from gaby.audit.witness_client import Witnesses, ask_witness, parse_witnesses, ping_witnesses

__all__ = [
    "AnchorFile",
    "AnchorPlace",
    "AnchorWebhook",
    "Anchors",
    "Appender",
    "AuditLog",
    "AuditRow",
    "AuditUnavailable",
    "AuditWouldWaitForItself",
    "CheckpointRefused",
    "CheckpointTaker",
    "Checkpointer",
    "CosignatureFile",
    "Cursor",
    "CursorFile",
    "Draft",
    "Expectations",
    "Fence",
    "FenceBroken",
    "Finding",
    "FindingKind",
    "GivenKey",
    "Intent",
    "IntentClosed",
    "KeyFile",
    "KeyHolder",
    "Malformed",
    "NotCanonical",
    "Outcome",
    "OutcomeNotWritten",
    "OutsideEvidence",
    "Pace",
    "PayloadTooLarge",
    "PendingIntent",
    "PinFile",
    "ProofRejected",
    "Recalled",
    "Report",
    "Rotation",
    "Sealer",
    "SigningKeyUnusable",
    "WebhookSink",
    "WitnessSilent",
    "WitnessUnreachable",
    "Witnesses",
    "ask_witness",
    "check_consistency",
    "check_inclusion",
    "consistency_proof",
    "export_to",
    "follow",
    "inclusion_proof",
    "json_line",
    "parse_witnesses",
    "ping_witnesses",
    "read_pem",
    "recall_calls",
    "snapshot",
    "syslog_line",
    "verify_file",
    "verify_lines",
    "verify_live",
]
