"""Servers that benchmarks start, and those who call them."""
