"""Attacks on the running product by somebody who holds the ticket, a message, a tool server and the model."""
