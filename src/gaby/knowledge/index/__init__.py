"""Words and vectors of every passage, on either engine."""
