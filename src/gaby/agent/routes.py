"""Investigations over HTTP."""
