"""Runs in AgentDojo's own environment, which Gaby's cannot be installed into."""
