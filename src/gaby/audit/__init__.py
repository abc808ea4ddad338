"""The audit log: what was decided and done, in rows that nobody can change unnoticed."""

from typing import TYPE_CHECKING

from gaby.kernel.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from gaby.audit.anchors import AnchorFile, Anchors, AnchorTarget, AnchorWebhook
    from gaby.audit.call_recovery import RecordedCall, recall_calls
    from gaby.audit.checkpointer import Checkpointer, CheckpointSchedule
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
    from gaby.audit.findings import Finding, FindingKind, VerificationReport
    from gaby.audit.formats import json_line, syslog_line
    from gaby.audit.intents import Intent, IntentOutcome, PendingIntent
    from gaby.audit.key_pins import PinFile
    from gaby.audit.keys import ConfiguredKey, KeyFile, KeyHolder, Rotation
    from gaby.audit.live_verification import ExternalEvidence, export_to, verify_live
    from gaby.audit.log import AuditLog
    from gaby.audit.proofs import check_consistency, check_inclusion
    from gaby.audit.prover import consistency_proof, inclusion_proof
    from gaby.audit.rows import AuditRow, RowDraft
    from gaby.audit.sealed_payloads import Sealer
    from gaby.audit.signing_key import read_pem
    from gaby.audit.source import snapshot
    from gaby.audit.store import Appender
    from gaby.audit.tail import CursorFile, TailCursor, WebhookSink, follow
    from gaby.audit.verify import VerificationTargets, verify_file, verify_lines
    from gaby.audit.witness_client import Witnesses, ask_witness, parse_witnesses, ping_witnesses

__all__ = [
    "AnchorFile",
    "AnchorTarget",
    "AnchorWebhook",
    "Anchors",
    "Appender",
    "AuditLog",
    "AuditRow",
    "AuditUnavailable",
    "AuditWouldWaitForItself",
    "CheckpointRefused",
    "CheckpointSchedule",
    "CheckpointTaker",
    "Checkpointer",
    "ConfiguredKey",
    "CosignatureFile",
    "CursorFile",
    "ExternalEvidence",
    "Fence",
    "FenceBroken",
    "Finding",
    "FindingKind",
    "Intent",
    "IntentClosed",
    "IntentOutcome",
    "KeyFile",
    "KeyHolder",
    "Malformed",
    "NotCanonical",
    "OutcomeNotWritten",
    "PayloadTooLarge",
    "PendingIntent",
    "PinFile",
    "ProofRejected",
    "RecordedCall",
    "Rotation",
    "RowDraft",
    "Sealer",
    "SigningKeyUnusable",
    "TailCursor",
    "VerificationReport",
    "VerificationTargets",
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

__getattr__ = lazy_exports(
    __name__,
    {
        "anchors": ("AnchorFile", "Anchors", "AnchorTarget", "AnchorWebhook"),
        "call_recovery": ("RecordedCall", "recall_calls"),
        "checkpointer": ("Checkpointer", "CheckpointSchedule"),
        "checkpoints": ("CheckpointTaker",),
        "cosignatures": ("CosignatureFile",),
        "errors": (
            "AuditUnavailable",
            "AuditWouldWaitForItself",
            "CheckpointRefused",
            "FenceBroken",
            "IntentClosed",
            "Malformed",
            "NotCanonical",
            "OutcomeNotWritten",
            "PayloadTooLarge",
            "ProofRejected",
            "SigningKeyUnusable",
            "WitnessSilent",
            "WitnessUnreachable",
        ),
        "fences": ("Fence",),
        "findings": ("Finding", "FindingKind", "VerificationReport"),
        "formats": ("json_line", "syslog_line"),
        "intents": ("Intent", "IntentOutcome", "PendingIntent"),
        "key_pins": ("PinFile",),
        "keys": ("ConfiguredKey", "KeyFile", "KeyHolder", "Rotation"),
        "live_verification": ("ExternalEvidence", "export_to", "verify_live"),
        "log": ("AuditLog",),
        "proofs": ("check_consistency", "check_inclusion"),
        "prover": ("consistency_proof", "inclusion_proof"),
        "rows": ("AuditRow", "RowDraft"),
        "sealed_payloads": ("Sealer",),
        "signing_key": ("read_pem",),
        "source": ("snapshot",),
        "store": ("Appender",),
        "tail": ("CursorFile", "TailCursor", "WebhookSink", "follow"),
        "verify": ("VerificationTargets", "verify_file", "verify_lines"),
        "witness_client": ("Witnesses", "ask_witness", "parse_witnesses", "ping_witnesses"),
    },
)
