"""Help desks on loopback that speak their vendors' wire formats, and can misbehave on demand."""
