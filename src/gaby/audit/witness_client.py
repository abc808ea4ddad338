"""Shows each checkpoint to the witnesses, and asks them what they have seen."""

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import httpx2

from gaby.audit.cosignatures import CosignatureFile, CosignedCheckpoint
from gaby.audit.errors import CheckpointRefused, Malformed, WitnessSilent, WitnessUnreachable
from gaby.audit.merkle import consistency_path
from gaby.audit.notes import (
    MAX_NOTE,
    WITNESS_KEY,
    VerifierKey,
    cosigned_at,
    parse_checkpoint,
    parse_note,
    parse_signatures,
    parse_size,
    parse_verifier_key,
)
from gaby.audit.source import snapshot
from gaby.audit.tiles import Tiles, for_consistency
from gaby.audit.witness_comparison import WitnessedRoot
from gaby.kernel.checks import Check
from gaby.kernel.database import Database
from gaby.kernel.errors import Misconfigured
from gaby.kernel.ids import SYSTEM
from gaby.kernel.log import get_log
from gaby.kernel.metrics import Metrics

_TIMEOUT = 5.0
_log = get_log(__name__)


@dataclass(frozen=True)
class WitnessAddress:
    url: str
    key: VerifierKey


def parse_witnesses(text: str | None) -> list[WitnessAddress]:
    """From the settings: `URL KEY`, several separated by commas."""
    addresses: list[WitnessAddress] = []
    for each in filter(None, ((part.strip()) for part in (text or "").split(","))):
        url, _, key = each.partition(" ")
        if not url.startswith(("http://", "https://")):
            raise Misconfigured("GABY_AUDIT_WITNESSES: each witness is an address and its key: `https://HOST KEY`.")
        try:
            addresses.append(WitnessAddress(url.rstrip("/"), parse_verifier_key(key, kind=WITNESS_KEY)))
        except Malformed as error:
            raise Misconfigured(f"GABY_AUDIT_WITNESSES: {error.message}") from error
    return addresses


class Witnesses:
    """A witness that is down never stops the log: what it missed is covered by the next checkpoint that it signs."""

    def __init__(
        self,
        addresses: Sequence[WitnessAddress],
        client: httpx2.AsyncClient,
        db: Database,
        file: CosignatureFile,
        metrics: Metrics | None = None,
    ) -> None:
        self._addresses = addresses
        self._client = client
        self._db = db
        self._file = file
        self._metrics = metrics
        self._sizes: dict[WitnessAddress, int] = {}
        self._troubles: dict[WitnessAddress, str] = {}

    async def submit(self, note: bytes) -> bool:
        """Whether every witness signed it. Raises nothing."""
        return all(await asyncio.gather(*(self._submit(address, note) for address in self._addresses)))

    async def check(self) -> Check:
        """For the server's own checks; a warning, because the log goes on without."""
        fix = "Start the witness, or look at GABY_AUDIT_WITNESSES. If it has seen more than the log has, keep both."
        if not self._troubles:
            return Check("witnesses", "ok", f"{len(self._addresses)} sign the checkpoints")
        return Check("witnesses", "warn", " ".join(self._troubles.values()), fix)

    async def _submit(self, address: WitnessAddress, note: bytes) -> bool:
        try:
            cosigned = await self._cosigned(address, note)
            await self._file.store(cosigned)
        except (OSError, httpx2.HTTPError, httpx2.InvalidURL, Malformed, WitnessSilent, CheckpointRefused) as error:
            text = f"Witness {address.key.name} did not sign: {error or type(error).__name__}"
            self._troubles[address] = text
            _log.warning("audit.witness_failed", witness=address.key.name, error=repr(error))
        else:
            self._troubles.pop(address, None)
        signed = address not in self._troubles
        if self._metrics is not None:
            self._metrics.audit_witness_up.labels(witness=address.key.name).set(1 if signed else 0)
        return signed

    async def _cosigned(self, address: WitnessAddress, note: bytes) -> CosignedCheckpoint:
        parsed = parse_note(note)
        head = parse_checkpoint(parsed.body)
        answer = await self._post(address, head.size, note)
        if answer.status_code == 409:
            # The witness knows best how far it is: it says so when what is remembered here is wrong.
            self._sizes[address] = parse_size(answer.text.removesuffix("\n"))
            answer = await self._post(address, head.size, note)
        if answer.status_code != 200:
            raise WitnessSilent(f"it answered {answer.status_code}.")
        signature = answer.content[:MAX_NOTE]
        if cosigned_at(parsed.body, parse_signatures(signature), address.key) is None:
            raise WitnessSilent("its signature does not hold.")
        self._sizes[address] = head.size
        return CosignedCheckpoint(witness=str(address.key), note=(note + signature).decode())

    async def _post(self, address: WitnessAddress, size: int, note: bytes) -> httpx2.Response:
        old_size = self._sizes.get(address, 0)
        if old_size > size:
            raise WitnessSilent(
                f"it has seen {old_size} rows of the log, which has {size}: an old backup stands in its place."
            )
        proof = await asyncio.to_thread(_proof, self._db, old_size, size)
        lines = "".join(f"{b64encode(each).decode()}\n" for each in proof)
        request = f"old {old_size}\n{lines}\n".encode() + note
        return await self._client.post(f"{address.url}/add-checkpoint", content=request, timeout=_TIMEOUT)


async def ping_witnesses(addresses: Sequence[WitnessAddress]) -> Check:
    """Whether the witnesses of an installation that is not running here can be reached."""
    silent: list[str] = []
    async with httpx2.AsyncClient() as client:
        for address in addresses:
            try:
                await client.get(f"{address.url}/{'0' * 64}/checkpoint", timeout=_TIMEOUT)
            except (httpx2.HTTPError, httpx2.InvalidURL):
                silent.append(f"{address.key.name} at {address.url} does not answer.")
    if silent:
        return Check("witnesses", "warn", " ".join(silent), "Start the witness, or look at GABY_AUDIT_WITNESSES.")
    return Check("witnesses", "ok", f"{len(addresses)} answer")


async def ask_witness(client: httpx2.AsyncClient, address: WitnessAddress, origin: str) -> WitnessedRoot:
    """The newest checkpoint that the witness has signed of the log. `WitnessUnreachable` when it cannot be asked,
    `WitnessSilent` when its answer is none."""
    url = f"{address.url}/{sha256(origin.encode()).hexdigest()}/checkpoint"
    try:
        answer = await client.get(url, timeout=_TIMEOUT)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise WitnessUnreachable(
            f"Witness {address.key.name} could not be asked: {str(error).rstrip('.') or type(error).__name__}."
        ) from error
    if answer.status_code >= 500 or answer.status_code == 429:
        raise WitnessUnreachable(f"Witness {address.key.name} could not be asked: it answered {answer.status_code}.")
    if answer.status_code == 404:
        raise WitnessSilent(
            f"Witness {address.key.name} has seen nothing of {origin}. Either it was never shown this log, or this is "
            "not the log that it was shown."
        )
    try:
        note = parse_note(answer.content)
        head = parse_checkpoint(note.body)
    except Malformed as error:
        raise WitnessSilent(f"Witness {address.key.name} answered no checkpoint. {error.message}") from error
    time = cosigned_at(note.body, note.signatures, address.key)
    if answer.status_code != 200 or time is None or head.origin != origin:
        raise WitnessSilent(f"What was answered for witness {address.key.name} is not signed by it.")
    return WitnessedRoot(head.size, head.root, address.key.name, time)


def _proof(db: Database, old_size: int, new_size: int) -> list[bytes]:
    if old_size in {0, new_size}:
        return []
    with snapshot(db) as source:
        tiles = Tiles(source.tiles(SYSTEM, for_consistency(old_size, new_size)))
        return consistency_path(tiles.node, old_size, new_size)
