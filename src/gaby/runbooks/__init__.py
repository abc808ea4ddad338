"""Runbooks of a workspace: checked against what is connected, listed, tried on a ticket, and drafted from pages."""
