"""Fixtures are read strictly: what cannot be judged is told before anything is played."""

import re
from pathlib import Path
from typing import get_args

import pytest

from gaby.evals.case_workspace import change_world
from gaby.evals.environment import START
from gaby.evals.errors import FixtureBroken, NothingToEvaluate
from gaby.evals.fixtures import read_fixture, read_fixtures
from gaby.kernel.outcomes import Verdict
from gaby_connectors.sample_company.company import create_company
from tests.evals.tickets.scenes import FIXTURES, written

pytestmark = pytest.mark.promise("X1")


def test_there_are_enough_fixtures_and_every_verdict_is_expected_somewhere() -> None:
    fixtures = read_fixtures(FIXTURES)
    assert len(fixtures) >= 60
    expected = {verdict for fixture in fixtures for verdict in fixture.expect.verdict}
    assert expected == set(get_args(Verdict))
    tags = {tag for fixture in fixtures for tag in fixture.expect.tags}
    assert {"healthy", "red-herring", "missing", "injection", "stranger", "approval", "language", "long"} <= tags


def test_every_world_can_be_made_and_everybody_in_it_is_invented(tmp_path: Path) -> None:
    template = tmp_path / "company.db"
    create_company(template, START)
    for fixture in read_fixtures(FIXTURES):
        copy = tmp_path / f"{fixture.name}.db"
        copy.write_bytes(template.read_bytes())
        change_world(copy, fixture, START)
        told = f"{fixture.ticket.model_dump_json()} {fixture.world}"
        assert all(name.endswith(".example") for name in re.findall(r"@[\w-]+(?:\.[\w-]+)+", told)), fixture.name


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"ticket_json": "{"}, "ticket.json is no JSON"),
        ({"ticket_json": '{"title": "Hi"}'}, "body: Field required"),
        ({"ticket_json": '{"title": "a", "body": "b", "colour": 1}'}, "colour: Extra inputs"),
        ({"expect_toml": "verdict ="}, "expect.toml is no TOML"),
        ({"expect_toml": 'about = "A lock, opened."\nverdict = "splendid"'}, "verdict"),
        ({"expect_toml": 'about = "A lock, opened."\nverdict = []'}, "verdict"),
        (
            {"expect_toml": 'about = "A lock, opened."\nverdict = "failed"\n[says]\nall = ["/(/"]'},
            "no regular expression",
        ),
        ({"policy_json": '{"autonomy": "reckless"}'}, "autonomy"),
        ({"operator_json": '{"answer": "maybe"}'}, "answer"),
    ],
)
def test_a_broken_fixture_is_told_in_a_sentence_with_its_file(tmp_path: Path, files: dict[str, str], says: str) -> None:
    place = written(tmp_path, **files)
    with pytest.raises(FixtureBroken) as told:
        read_fixture(place)
    assert says in told.value.message
    assert str(place) in told.value.message


def test_what_is_missing_is_told_too(tmp_path: Path) -> None:
    place = written(tmp_path)
    (place / "expect.toml").unlink()
    with pytest.raises(FixtureBroken, match=r"expect\.toml is missing"):
        read_fixture(place)
    with pytest.raises(FixtureBroken, match="There is no fixture unheard-of"):
        read_fixtures(tmp_path, ["unheard-of"])


def test_a_world_that_cannot_be_made_names_the_fixture(tmp_path: Path) -> None:
    database = tmp_path / "company.db"
    create_company(database, START)
    broken = read_fixture(written(tmp_path, world_sql="UPDATE unicorns SET horn = 1;"))
    with pytest.raises(FixtureBroken, match=r"locked/world\.sql: no such table: unicorns"):
        change_world(database, broken, START)


def test_an_evaluation_of_nothing_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(NothingToEvaluate, match="proves nothing") as told:
        read_fixtures(tmp_path)
    assert told.value.exit_code == 1
    with pytest.raises(NothingToEvaluate, match="There is no folder"):
        read_fixtures(tmp_path / "nowhere")
