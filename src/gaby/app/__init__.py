"""The composition root: builds every service once, visibly."""

from gaby.app.compose import Gaby, build
from gaby.app.opening import configured_url, open_configured_database

__all__ = ["Gaby", "build", "configured_url", "open_configured_database"]
