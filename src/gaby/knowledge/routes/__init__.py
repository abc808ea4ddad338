"""Knowledge over HTTP."""

from gaby.knowledge.routes import learning, reading, sources

routers = (sources.router, reading.router, learning.router)
