"""Addresses as names of people."""

from gaby.safety.matching import same_case


def canonical_address(address: str) -> str:
    """The letters A to Z in one case. Whatever else differs makes another address: guessing would merge two people."""
    return same_case(address.strip())
