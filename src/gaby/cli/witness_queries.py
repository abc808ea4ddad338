"""Asking witnesses what they have seen of a log, for `gaby audit verify --witness`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from gaby.audit import (
    Finding,
    FindingKind,
    Malformed,
    VerificationReport,
    WitnessSilent,
    WitnessUnreachable,
    ask_witness,
    parse_witnesses,
    snapshot,
)
from gaby.audit.export import ExportHeader
from gaby.audit.key_pins import KeyPins
from gaby.audit.line_reader import parse, read_lines
from gaby.audit.notes import WITNESS_KEY, origin_of, parse_verifier_key
from gaby.audit.statements import understand
from gaby.audit.witness_client import WitnessAddress
from gaby.audit.witness_comparison import WitnessedRoot
from gaby.cli.runtime import read_settings
from gaby.kernel.database import Database
from gaby.kernel.errors import BadRequest


def witnesses_to_ask(urls: Sequence[str], keys: Sequence[str]) -> list[WitnessAddress]:
    """Each address with its key, from the command line or from the settings."""
    if not urls:
        return []
    if keys:
        if len(keys) != len(urls):
            raise BadRequest("Give a --witness-key for each --witness, in the same order.")
        parsed = [parse_verifier_key(key, kind=WITNESS_KEY) for key in keys]
        return [WitnessAddress(url.rstrip("/"), key) for url, key in zip(urls, parsed, strict=True)]
    known = {address.url: address for address in parse_witnesses(read_settings().audit.witnesses)}
    missing = [url for url in urls if url.rstrip("/") not in known]
    if missing:
        raise BadRequest(f"The key of {missing[0]} is not in GABY_AUDIT_WITNESSES. Give it with --witness-key.")
    return [known[url.rstrip("/")] for url in urls]


def origin_in_export(export: Path, pins: KeyPins | None) -> str | None:
    """The name under which witnesses know the log: by the first key that is pinned, or else by its own word."""
    if pins is not None:
        return origin_of(pins.keys)
    try:
        with export.open("rb") as file:
            header = understand(ExportHeader, parse(next(read_lines(file), b"").removesuffix(b"\n")))
    except (Malformed, OSError):
        return None
    return origin_of(header.keys) if header.keys else None


def origin_in_database(database: Database, pins: KeyPins | None) -> str | None:
    if pins is not None:
        return origin_of(pins.keys)
    with snapshot(database) as source:
        keys = source.keys()
    return origin_of(keys) if keys else None


@dataclass(frozen=True)
class WitnessAnswers:
    seen: list[WitnessedRoot] = field(default_factory=list[WitnessedRoot])
    unusable: list[str] = field(default_factory=list[str])
    """Answers that vouch for nothing: of a witness that never saw this log, or not signed by it."""
    not_asked: list[str] = field(default_factory=list[str])
    """Why a witness could not be asked at all."""

    def add_to(self, report: VerificationReport) -> None:
        """Only what an answer says about the log is a finding."""
        for text in self.unusable:
            report.add(Finding(FindingKind.WITNESS_UNCHECKED, text))
        report.not_asked += self.not_asked
        # Signatures that are kept beside the log agree as well, but nobody was asked for them now.
        report.agreeing &= {each.witness for each in self.seen}


async def ask_all(addresses: Sequence[WitnessAddress], origin: str | None) -> WitnessAnswers:
    answers = WitnessAnswers()
    async with httpx2.AsyncClient() as client:
        for address in addresses:
            if origin is None:
                text = f"Witness {address.key.name} has nothing to compare, since no key has signed this log."
                answers.unusable.append(text)
                continue
            try:
                answers.seen.append(await ask_witness(client, address, origin))
            except WitnessUnreachable as error:
                answers.not_asked.append(error.message)
            except WitnessSilent as error:
                answers.unusable.append(error.message)
    return answers
