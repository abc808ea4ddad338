"""Texts to passages that cover them exactly once, each whole in itself."""
