"""Tickets and desks over HTTP."""
