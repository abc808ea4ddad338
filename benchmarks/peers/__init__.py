"""Programs that run in an environment of their own, beside which Gaby is measured."""
