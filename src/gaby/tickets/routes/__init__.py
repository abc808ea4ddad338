"""Tickets and desks over HTTP."""

from gaby.tickets.routes import desks, instructions, tickets, webhooks

routers = (tickets.router, instructions.router, desks.router, webhooks.router)
