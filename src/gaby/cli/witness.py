"""`gaby audit witness`: watch the logs of other installations, and sign how far they have come."""

from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer

from gaby.audit.errors import WitnessStateUnusable
from gaby.audit.notes import LOG_KEY, WITNESS_KEY, VerifierKey, is_name, parse_verifier_key
from gaby.audit.signing_key import load_or_create
from gaby.audit.witness import Witness, WitnessFile
from gaby.audit.witness_app import witness_app
from gaby.cli.output import echo
from gaby.kernel import log
from gaby.kernel.clock import SystemClock
from gaby.kernel.errors import BadRequest


def serve_witness(
    watched: Annotated[list[str], typer.Option("--log", help="Key of a log, as `gaby audit keys --log` prints it.")],
    name: Annotated[str, typer.Option(help="What the witness calls itself, such as witness.example/audit.")],
    folder: Annotated[Path, typer.Option(help="Where it keeps its key and what it has seen.")] = Path("witness"),
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8600,
) -> None:
    """Run a witness, on another machine than the log's. Needs no database."""
    log.configure(level="info", style="auto")
    if not is_name(name):
        raise BadRequest("A witness's name has neither spaces nor a plus sign.")
    logs: dict[str, list[VerifierKey]] = defaultdict(list)
    for text in watched:
        key = parse_verifier_key(text, kind=LOG_KEY)
        logs[key.name].append(key)
    file, key_path = WitnessFile(folder / "seen.json"), folder / "witness.pem"
    if not file.exists:
        if key_path.exists():
            raise WitnessStateUnusable
        file.create()
    key = load_or_create(key_path)
    witness = Witness(name, key, dict(logs), file, SystemClock())
    echo(str(VerifierKey(name, WITNESS_KEY, key.public_key)))

    import uvicorn

    try:
        uvicorn.run(witness_app(witness), host=host, port=port, log_level="warning", access_log=False)
    finally:
        file.close()
