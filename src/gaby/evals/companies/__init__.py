"""Whole companies that Gaby was not written for: their pages, tools and tickets, played through the product."""
