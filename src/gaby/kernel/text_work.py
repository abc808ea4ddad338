"""Text work that takes longer than a moment is done in a thread, so that the event loop goes on meanwhile."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

LONG = 20_000
"""Characters. What is shorter takes about a millisecond, and a thread would cost as much."""

P = ParamSpec("P")
T = TypeVar("T")


async def run_text_work(size: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The function's result. `size` is how many characters it has to look at; context variables go along."""
    if size <= LONG:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)
