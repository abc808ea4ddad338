"""Bytes of any kind to text with lines that can be cited."""
