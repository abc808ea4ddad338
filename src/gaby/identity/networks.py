"""Where a request comes from, without saying who sent it."""

from ipaddress import ip_address, ip_network


def network_of(address: str) -> str:
    """The /24 or /48 around the address: what one provider gives to one customer, and nobody's personal data."""
    try:
        kept = 24 if ip_address(address).version == 4 else 48
        return str(ip_network(f"{address}/{kept}", strict=False))
    except ValueError:
        return "unknown"
