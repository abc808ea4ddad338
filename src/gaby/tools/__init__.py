"""The one path to a tool: decide, record the intent, act, record the outcome."""
