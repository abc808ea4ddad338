"""A question set: the pages of a company, and questions with the facts that a right answer holds."""

from pathlib import Path

from pydantic import BaseModel

SETS = Path(__file__).with_name("sets")


class CustomerQuestion(BaseModel, frozen=True, extra="forbid"):
    id: str
    title: str
    body: str
    answerable: bool
    page: str | None
    facts: tuple[tuple[str, ...], ...]
    """Of each group an answer holds at least one spelling."""
    why: str

    def is_answered_by(self, text: str) -> bool:
        said = _plain(text)
        return self.answerable and all(any(_plain(each) in said for each in group) for group in self.facts)


def names() -> list[str]:
    return sorted(each.name for each in SETS.iterdir() if each.is_dir())


def pages_of(name: str) -> Path:
    return SETS / name / "docs"


def questions_of(name: str) -> list[CustomerQuestion]:
    lines = (SETS / name / "tickets.jsonl").read_text(encoding="utf-8").splitlines()
    return [CustomerQuestion.model_validate_json(line) for line in lines if line.strip()]


def _plain(text: str) -> str:
    """In lower case on one line, without the bars of a table."""
    return " ".join(text.lower().replace("|", " ").split())
