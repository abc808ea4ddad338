"""Help desks: one folder for each. A desk is where tickets come from and where answers go."""
