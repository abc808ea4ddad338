"""Connectors, tools, approvals and kill switches over HTTP."""

from gaby.tools.routes import approvals, connectors, kill_switches, tools

routers = (connectors.router, connectors.health, tools.router, approvals.router, kill_switches.router)
