"""Bytes of any kind to text with lines that can be cited."""

from gaby.knowledge.parsers.kinds import kind_of
from gaby.knowledge.parsers.reader import LIMIT_BYTES, read

__all__ = ["LIMIT_BYTES", "kind_of", "read"]
