"""Arguments of a tool: what each takes, and which values suit it."""
