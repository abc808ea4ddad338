"""Tickets: what comes in from help desks, and what goes back to them."""
