"""Investigations over HTTP."""

from gaby.agent.routes import agent, runs

routers = (runs.router, agent.router)
