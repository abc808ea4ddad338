"""From a question to the few passages that answer it, with reasons."""
