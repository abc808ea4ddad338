"""`python -m gaby_connectors.contract [--json] [--samples FILE] [--writes] -- COMMAND...`, or a URL for the command."""

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

from rich.console import Console

from gaby_connectors.contract.runner import check
from gaby_connectors.contract.samples import SampleArguments, load_samples
from gaby_connectors.contract.target import HttpTarget, StdioTarget, Target
from gaby_connectors.sdk.errors import NotConfigured


def main(arguments: list[str] | None = None) -> int:
    """0: all promises are kept. 1: some are not. 2: the check itself was called wrongly."""
    options = _parser().parse_args(arguments)
    try:
        samples = load_samples(options.samples) if options.samples else SampleArguments()
    except NotConfigured as error:
        sys.stderr.write(f"{error}\n")
        return 2
    # The client's own complaints about the server are in the report.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    logging.getLogger("mcp").propagate = False
    card = asyncio.run(
        check(
            _target(options.command),
            samples=samples,
            writes=options.writes,
            secrets=[os.environ[name] for name in options.secret if os.environ.get(name)],
            start_within=options.start_within,
        )
    )
    if options.json:
        sys.stdout.write(card.model_dump_json(indent=2) + "\n")
    else:
        Console().print(card.table())
    return 0 if card.passed else 1


def _target(command: list[str]) -> Target:
    if len(command) == 1 and command[0].startswith(("http://", "https://")):
        return HttpTarget(command[0])
    return StdioTarget(command, dict(os.environ))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gaby_connectors.contract", description="Check a connector's promises.")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--samples", type=Path, help="a JSON file with arguments that work")
    parser.add_argument("--writes", action="store_true", help="really call the writes that have samples")
    parser.add_argument("--secret", action="append", default=[], metavar="NAME", help="a variable that holds a secret")
    parser.add_argument("--start-within", type=float, default=2.0, metavar="SECONDS", help="time to start; 2")
    parser.add_argument("command", nargs="+", help="the command that starts the server, or its URL")
    return parser


if __name__ == "__main__":
    sys.exit(main())
