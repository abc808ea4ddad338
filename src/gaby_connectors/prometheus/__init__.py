"""Prometheus: measurements, alerts and what is being watched."""
