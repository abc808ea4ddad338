"""The few pages that exist before a console does: plain HTML, readable in every browser, no script."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _pages() -> Environment:
    return Environment(loader=PackageLoader(__name__, ""), autoescape=True, undefined=StrictUndefined)


def render(page: str, **values: Any) -> str:
    return _pages().get_template(f"{page}.html").render(**values)
