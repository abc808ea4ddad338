"""What models cost: plans, limits, the books that every call is entered in, and reports."""
