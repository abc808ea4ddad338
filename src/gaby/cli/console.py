"""Rich, for what has markup or colours: timelines, progress, long texts. Lists do without it, since it loads slowly."""

from typing import Any

from rich.console import Console

from gaby.kernel.text import printable


class SafeConsole(Console):
    """What is no text, such as a table, is made safe by whoever builds it."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(printable(each) if isinstance(each, str) else each for each in objects), **options)
