"""A company's folder is read strictly: what is wrong in it is named with its place, before anything is played."""

import json
from pathlib import Path
from typing import Any

import pytest

from gaby.evals.companies.company import read_company
from gaby.evals.errors import FixtureBroken, NothingToEvaluate

pytestmark = pytest.mark.promise("X1", "X5")

TICKET: dict[str, Any] = {
    "id": "a-1",
    "kind": "howto",
    "title": "opening hours",
    "body": "When do you close?",
    "requester_email": "ines@mail.example",
    "requester_verified": True,
    "expect": {"verdicts": ["auto_resolved"]},
}
ABOUT: dict[str, Any] = {"name": "A shop", "connector": "shop", "state_variable": "SHOP_STATE"}


def company(folder: Path, *, about: object = ABOUT, tickets: str | None = None) -> Path:
    (folder / "docs").mkdir()
    (folder / "docs" / "hours.md").write_text("# Hours\n\nWe close at 18:00.\n", encoding="utf-8")
    (folder / "server.py").write_text("", encoding="utf-8")
    (folder / "manifest.yaml").write_text("manifest_version: 1.0.0\n", encoding="utf-8")
    (folder / "company.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "tickets.jsonl").write_text(tickets if tickets is not None else json.dumps(TICKET), encoding="utf-8")
    return folder


def test_a_company_is_read_with_its_tickets(tmp_path: Path) -> None:
    read = read_company(company(tmp_path))
    assert [each.id for each in read.tickets] == ["a-1"]
    assert read.tickets[0].texts == ("When do you close?",)
    assert not read.is_staff(read.tickets[0])


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ([], "company.json"),
        ({**ABOUT, "surprise": 1}, "surprise"),
        ({**ABOUT, "connector": "../shop"}, "connector"),
        ({**ABOUT, "state_variable": "GABY_HOME"}, "state_variable"),
        ({**ABOUT, "now_variable": "PYTHONPATH"}, "now_variable"),
        ({**ABOUT, "internal_pages": ["gone.md"]}, "gone.md"),
        ({**ABOUT, "autonomy": "reckless"}, "autonomy"),
    ],
)
def test_a_broken_description_is_named(tmp_path: Path, about: object, told: str) -> None:
    with pytest.raises(FixtureBroken, match=told):
        read_company(company(tmp_path, about=about))


@pytest.mark.parametrize(
    ("tickets", "told"),
    [
        ("{", "line 1"),
        ("[" * 100_000, "JSON"),
        (json.dumps(TICKET) + "\n" + json.dumps({**TICKET, "expect": {"verdicts": []}}), "line 2: expect.verdicts"),
        (json.dumps({**TICKET, "expect": {"verdicts": ["solved"]}}), "verdicts"),
        (json.dumps({**TICKET, "expect": {"verdicts": ["failed"], "reply_must_say": [["/(/"]]}}), "regular expression"),
        (json.dumps(TICKET) + "\n" + json.dumps(TICKET), "more than one ticket a-1"),
    ],
)
def test_a_broken_ticket_is_named_with_its_line(tmp_path: Path, tickets: str, told: str) -> None:
    with pytest.raises(FixtureBroken, match=told):
        read_company(company(tmp_path, tickets=tickets))


def test_nothing_to_play_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NothingToEvaluate):
        read_company(tmp_path / "nowhere")
    with pytest.raises(NothingToEvaluate):
        read_company(company(tmp_path, tickets="\n"))


def test_a_ticket_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FixtureBroken, match="a-9"):
        read_company(company(tmp_path), ["a-9"])
