"""Models: the only package that calls them. Typed skills, budgets before, fallbacks behind."""
