"""The sample company's handbook: written for everybody, with a runbook for each problem, and tools that exist."""

import re

import pytest

from gaby.mind.runbooks import runbooks
from gaby_connectors.sample_company.customers import CUSTOMERS, email_of
from gaby_connectors.sample_company.tools import connector
from tests.mind.company import handbook
from tests.support.sample_scenarios import SCENARIOS

pytestmark = pytest.mark.promise("G2", "M6")

TOOLS = frozenset(connector.tools)
RUNBOOKS = runbooks(handbook(), TOOLS)
IDS = re.compile(r"\b(?:acc|usr|tkt|inv|ch|dev|key|whk|inc|dep|grp|preq)_\d+")


def test_no_page_speaks_of_a_single_customer() -> None:
    names = {customer.name for customer in CUSTOMERS} | {customer.domain for customer in CUSTOMERS}
    people = {name for customer in CUSTOMERS for name, _ in customer.people}
    addresses = {email_of(name, customer.domain) for customer in CUSTOMERS for name, _ in customer.people}
    for page in handbook():
        assert [each for each in names | people | addresses if each.lower() in page.text.lower()] == []
        assert IDS.findall(page.text) == []


def test_there_is_a_runbook_for_every_problem() -> None:
    for scenario in SCENARIOS:
        wanted = {*scenario.revealed_by, *scenario.remedy}
        named = [
            {each.tool for each in runbook.steps} | {each.tool for branch in runbook.branches for each in branch.wanted}
            for runbook in RUNBOOKS
        ]
        assert any(wanted <= tools for tools in named), scenario.id


def test_every_condition_of_a_runbook_is_understood_and_leads_somewhere() -> None:
    assert [(runbook.key, runbook.errors) for runbook in RUNBOOKS if runbook.errors] == []
    assert all(runbook.declared for runbook in RUNBOOKS)
    for page in handbook():
        runbook = next((runbook for runbook in RUNBOOKS if runbook.citations == (page.citation,)), None)
        conditions = len(re.findall(r"^If ", page.text, re.MULTILINE))
        assert conditions == (sum(bool(branch.conditions) for branch in runbook.branches) if runbook else 0), (
            page.citation
        )
    for branch in (branch for runbook in RUNBOOKS for branch in runbook.branches if branch.conditions):
        assert branch.cause
        assert branch.wanted or branch.asked or branch.handed


def test_plain_pages_are_no_runbooks() -> None:
    assert len(SCENARIOS) <= len(RUNBOOKS) < len(handbook())
    assert len(handbook()) >= 20
