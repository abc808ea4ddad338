"""Arguments of a tool out of the words of a ticket."""

from gaby.mind.arguments.filling import Filled, Origin, fill

__all__ = ["Filled", "Origin", "fill"]
