"""What models cost: plans, limits, the ledger that every call is entered in, and reports."""
