"""The composition root: builds every service once, visibly."""

from gaby.app.compose import Gaby, build
from gaby.app.installation import configured_url, explain_missing, open_configured_database, require_installation

__all__ = ["Gaby", "build", "configured_url", "explain_missing", "open_configured_database", "require_installation"]
