"""Chaos: investigations that are killed, stopped and cut off, and what must be true of them afterwards."""
