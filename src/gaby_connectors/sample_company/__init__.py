"""Lanternfish, a company that does not exist: a small SaaS with customers, problems, and tools to look into them."""
