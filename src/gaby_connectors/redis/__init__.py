"""Redis and Valkey: look at keys of every type, and remove or expire single ones."""
