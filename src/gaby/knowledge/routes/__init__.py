"""Knowledge over HTTP."""

from gaby.knowledge.routes import learning, search, sources

routers = (sources.router, search.router, learning.router)
