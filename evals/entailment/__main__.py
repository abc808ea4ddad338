"""`python -m evals.entailment`: how well unsupported sentences are told, without a model and with the recorded one."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from evals.entailment.judges import by_model, by_values
from evals.entailment.pairs import PAIRS, measured, read_pairs
from evals.recorded.recording import read_recording
from evals.recorded.seat import Seat

RECORDING = PAIRS.with_name("recording.jsonl")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="ask by files what is not recorded")
    folder = parser.parse_args().record
    pairs = read_pairs()
    print(json.dumps({"judge": "values, without a model", **asdict(measured(pairs, by_values(pairs)))}))
    seat = Seat(read_recording(RECORDING), folder)
    verdicts = by_model(pairs, seat)
    if seat.stale:
        raise SystemExit(f"The recording is stale: {', '.join(dict.fromkeys(seat.stale))}. Record with --record.")
    print(json.dumps({"judge": "recorded model", **asdict(measured(pairs, verdicts))}))


if __name__ == "__main__":
    main()
