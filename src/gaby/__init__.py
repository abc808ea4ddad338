"""Gaby: a self-hosted AI support engineer."""

__version__ = "0.1.0"
