"""What a connector talks to: a database, a directory, an API."""

from typing import Any


class Backend:
    """Subclass it with what the tools share. Tools ask for it with a parameter of its type.

    It is made when the connector starts and must not connect by then: the first use does, so that a backend that is
    down does not keep the connector from starting.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    async def check(self) -> str:
        """Ask the real thing whether it answers, and say so in a few words. Raise `ToolError` if it does not."""
        return "Nothing outside this connector is needed."

    async def close(self) -> None:
        """Let go of connections."""

    def explain(self, error: Exception) -> Exception:
        """Turn an error of the client library into a `ToolError`, or give it back as it is."""
        return error
