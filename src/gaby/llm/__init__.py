"""Models: the only doorway to them. Typed skills, budgets before, fallbacks behind."""
