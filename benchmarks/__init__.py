"""What Gaby costs, always measured against a peer or a floor in the same run."""
