"""One page that tells everything about an evaluation, for people. It loads nothing from elsewhere."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from gaby.evals.judge import MARKS
from gaby.evals.results import SuiteResult


@cache
def _page() -> Template:
    # What stands in tickets and results is hostile, so everything is escaped.
    pages = Environment(loader=PackageLoader("gaby.evals", "pages"), autoescape=True, undefined=StrictUndefined)
    return pages.get_template("report.html")


def render(suite: SuiteResult) -> str:
    return _page().render(
        suite=suite,
        summary=suite.summary(),
        marks=MARKS,
        groups=[(name, suite.in_group(name)) for name in ("tickets", "incidents") if suite.in_group(name)],
    )
