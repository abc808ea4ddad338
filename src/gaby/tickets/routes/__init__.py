"""Tickets and desks over HTTP."""

from gaby.tickets.routes import desks, tickets, webhooks

routers = (tickets.router, desks.router, webhooks.router)
