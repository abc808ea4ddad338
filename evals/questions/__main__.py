"""`python -m evals.questions [SET ...]`: customers' questions, answered from pages alone and without a model."""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Sequence

from evals.questions.player import QuestionGrade, play_set
from evals.questions.question_set import names, questions_of
from gaby.evals.environment import open_stage
from gaby.settings import Settings


async def _play(sets: Sequence[str]) -> None:
    total: Counter[QuestionGrade] = Counter()
    answerable = 0
    async with open_stage(Settings()) as stage:
        for name in sets:
            grades = await play_set(stage, name)
            total += grades
            answerable += sum(each.answerable for each in questions_of(name))
            print(json.dumps({"set": name, **grades}), flush=True)
    asked = sum(total.values())
    shares = {"answered": round(total["right"] / answerable, 3), "wrong_share": round(total["wrong"] / asked, 3)}
    print(json.dumps({"set": "all", "questions": asked, "answerable": answerable, **total, **shares}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(names())}; all of them by default")
    asyncio.run(_play(parser.parse_args().sets or names()))


if __name__ == "__main__":
    main()
