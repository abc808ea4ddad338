"""Texts to passages that cover them exactly once, each whole in itself."""

from gaby.knowledge.chunking.chunker import cut

__all__ = ["cut"]
