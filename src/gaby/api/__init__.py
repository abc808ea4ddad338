"""The HTTP server: composes the packages' routes, errors, limits and headers into one application."""

from gaby.api.app import ApiDependencies, create_app

__all__ = ["ApiDependencies", "create_app"]
