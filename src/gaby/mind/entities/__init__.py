"""Typed values in a text: addresses, ids, error codes, dates, amounts, names."""

from gaby.mind.entities.entity import KINDS, Entity, EntityKind
from gaby.mind.entities.extract import extract

__all__ = ["KINDS", "Entity", "EntityKind", "extract"]
