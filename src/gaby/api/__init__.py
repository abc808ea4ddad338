"""The HTTP server: composes the rooms' routes, errors, limits and headers into one application."""

from gaby.api.app import Parts, create_app

__all__ = ["Parts", "create_app"]
