"""Connectors that the tests of the one path talk to, each in a process of its own."""
