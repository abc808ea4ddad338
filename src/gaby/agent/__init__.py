"""Investigations: from a ticket to a verdict, one recorded step after the other."""
