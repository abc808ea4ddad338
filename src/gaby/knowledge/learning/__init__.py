"""What Gaby would like to remember, and what it could not answer. A person decides."""
