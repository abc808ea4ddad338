"""Evaluations: whole investigations of written tickets, played through the real loop and judged."""
