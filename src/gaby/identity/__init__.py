"""Workspaces, people, groups, roles, sign-ins and API keys."""
