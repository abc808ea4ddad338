"""Migrations: how the tables of each version follow from those of the version before, on both engines."""

from gaby.migrations.inspect import SchemaState, inspect_schema
from gaby.migrations.upgrade import find_drift, unprotected, upgrade

__all__ = ["SchemaState", "find_drift", "inspect_schema", "unprotected", "upgrade"]
