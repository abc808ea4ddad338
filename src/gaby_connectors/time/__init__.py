"""Time: what time it is somewhere, and how far apart two moments are."""
