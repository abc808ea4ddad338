"""Placeholder until written."""

from pathlib import Path


def create(name: str, folder: Path) -> Path:
    raise ValueError("not yet")
