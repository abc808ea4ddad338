"""Encryption: one master key, a data key per subject, and values sealed under it."""
