"""Building the audit log, its keys and its checkpoints out of the settings."""

from gaby.app.ciphers import VaultSealer
from gaby.app.services import Services
from gaby.audit import (
    AnchorFile,
    Anchors,
    AnchorTarget,
    AnchorWebhook,
    AuditLog,
    Checkpointer,
    CheckpointSchedule,
    CheckpointTaker,
    ConfiguredKey,
    CosignatureFile,
    KeyFile,
    KeyHolder,
    PinFile,
    Witnesses,
    parse_witnesses,
    read_pem,
)
from gaby.settings import Settings


def build_audit(services: Services) -> AuditLog:
    sealer = VaultSealer(services.database, services.vault)
    log = AuditLog(services.database, services.appender, sealer=sealer, metrics=services.metrics)
    log.on_rows(services.checkpointer.grew)
    return log


def build_checkpointer(services: Services) -> Checkpointer:
    settings = services.settings.audit
    return Checkpointer(
        services.database,
        CheckpointTaker(services.audit_key, services.appender, services.clock),
        Anchors(*_anchor_places(services)),
        services.clock,
        CheckpointSchedule(settings.checkpoint_rows, settings.checkpoint_every, settings.heartbeat_every),
        pins=PinFile(services.settings.anchor_path),
        witnesses=services.witnesses,
    )


def build_witnesses(services: Services) -> Witnesses:
    addresses = parse_witnesses(services.settings.audit.witnesses)
    cosignatures = CosignatureFile(services.settings.anchor_path)
    return Witnesses(addresses, services.http, services.database, cosignatures, services.metrics)


def audit_key(settings: Settings) -> KeyHolder:
    if settings.audit.signing_key is not None:
        return ConfiguredKey(read_pem(settings.audit.signing_key.get_secret_value().encode(), "GABY_AUDIT_SIGNING_KEY"))
    return KeyFile(settings.signing_key_path)


def _anchor_places(services: Services) -> list[AnchorTarget]:
    settings = services.settings
    places: list[AnchorTarget] = [AnchorFile(settings.anchor_path)]
    if settings.audit.anchor_webhook is not None:
        places.append(AnchorWebhook(settings.audit.anchor_webhook.get_secret_value(), services.http))
    return places
