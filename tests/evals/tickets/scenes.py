"""Written cases and played investigations, as small as they can be."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from gaby.evals.expectations import Expectation, ExpectedCall, ExpectedCalls, ExpectedCitations, ExpectedText
from gaby.evals.played_run import PlayedCall, PlayedPosting, PlayedRun
from gaby.evals.results import CaseResult, FaultOut, SuiteResult

FIXTURES = Path(__file__).parents[3] / "evals" / "tickets"

TICKET = {"title": "Locked out", "body": "I am locked out.", "requester_email": "ada@lanternfish.example"}
EXPECTED = 'about = "A lock that somebody can open."\nverdict = "auto_resolved"\n'
TOKEN = "tool:company.search_users#1"

WANTED = Expectation(
    about="A lock that Gaby opens by itself.",
    verdict=("auto_resolved",),
    says=ExpectedText(requester=("unlocked",), none=("deleted",), secret=("203.0.113",)),
    looks=("search_users",),
    done=ExpectedCalls(must=(ExpectedCall(tool="unlock_user", arguments={"user_id": "usr_001"}),)),
    asked=ExpectedCalls(never=(ExpectedCall(tool="*"),)),
    cites=ExpectedCitations(tools=("search_users",)),
)


def message(*sentences: str, private: bool = False) -> PlayedPosting:
    head = "**This ticket needs a colleague.** It is clear what to do.\n\n" if private else ""
    told = "\n".join(f"{each} [1]" for each in sentences)
    end = f"A colleague takes it from here.\n\nSources:\n[1] `{TOKEN}`\n\n_Written by Gaby, without a language model._"
    return PlayedPosting(f"{head}{told}\n\n{end}", private)


UNLOCK = PlayedCall("unlock_user", {"user_id": "usr_001"}, "write", "done")
RIGHT = PlayedRun(
    verdict="auto_resolved",
    posted=(message("The account usr_001 is unlocked."),),
    calls=(PlayedCall("search_users", {"query": "ada"}, "read", "done"), UNLOCK),
    effects=("unlock_user",),
    sources={TOKEN: '{"users":[{"id":"usr_001","account":"unlocked"}]}'},
)


def played(**changes: Any) -> PlayedRun:
    """As it should be, except for what is changed."""
    return replace(RIGHT, **changes)


def written(folder: Path, name: str = "locked", **files: str) -> Path:
    """A fixture in a folder; a file that is given replaces the usual one."""
    place = folder / name
    place.mkdir(parents=True)
    usual = {"ticket.json": json.dumps(TICKET), "expect.toml": EXPECTED}
    for file, text in {**usual, **{each.replace("_", ".", 1): text for each, text in files.items()}}.items():
        (place / file).write_text(text, encoding="utf-8")
    return place


def case(name: str, *faults: FaultOut, **told: Any) -> CaseResult:
    given: dict[str, Any] = {"verdict": "needs_tech", "seconds": 1.0, **told}
    return CaseResult(name=name, faults=faults, **given)


def suite(*cases: CaseResult) -> SuiteResult:
    return SuiteResult(cases=cases)
