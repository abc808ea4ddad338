"""`python -m evals.recorded`: play the recordings again, or record tickets by hand.

python -m evals.recorded                               every recording, with its figures
python -m evals.recorded energy en-01 --record FOLDER  record this ticket, answered by hand

What is not recorded is put into FOLDER/asked/0001.json. Whoever plays the model writes FOLDER/answered/0001.json:
{"text": "..."} or {"calls": [{"name": "...", "arguments": {...}}]}.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from statistics import median

from evals.recorded.play import HERE, RecordedPlay, play_recorded
from evals.recorded.recording import read_recording
from evals.recorded.seat import Seat


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("company", nargs="?", help="a folder of evals/companies; without it, every recorded one")
    parser.add_argument("tickets", nargs="*", help="only these; without them, those that are recorded")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="ask by files what is not recorded")
    parser.add_argument("--out", type=Path, help="write what came out here, as JSON")
    args = parser.parse_args()
    companies = [args.company] if args.company else sorted(path.stem for path in HERE.glob("*.jsonl"))
    plays = [_play(company, args.tickets, args.record, args.out) for company in companies]
    return 1 if any(play.stale or play.result.breaches for play in plays) else 0


def _play(company: str, tickets: list[str], folder: Path | None, out: Path | None) -> RecordedPlay:
    recording = read_recording(HERE / f"{company}.jsonl")
    wanted = tickets or list(recording.tickets)
    if not wanted:
        sys.exit(f"Nothing is recorded of {company}. Name tickets, and --record FOLDER.")
    seat = Seat(recording, folder)
    played = asyncio.run(play_recorded(company, seat, wanted))
    if folder is not None:
        recording.keep_only(seat.used, set(wanted))
    for each in played.result.tickets:
        state = "stale" if each.id in played.stale else each.grade
        print(f"{each.id:8} {each.kind:9} {state:16} {each.verdict:14} {'; '.join(each.notes)[:150]}")
    print(json.dumps({**played.result.summary(), **figures(played)}))
    if out is not None:
        out.write_text(played.result.model_dump_json(indent=1), encoding="utf-8")
    return played


def figures(played: RecordedPlay) -> dict[str, float | int]:
    tokens = [each.tokens for each in played.sizes.values()]
    repeated = sum(each.repeated for each in played.sizes.values())
    return {
        "stale": len(played.stale),
        "prompt_tokens_p50": int(median(tokens)),
        "repeated_prefix": round(repeated / max(1, sum(tokens)), 3),
        "requests_p50": median(each.requests for each in played.sizes.values()),
    }


if __name__ == "__main__":
    sys.exit(main())
