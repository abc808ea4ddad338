"""Whether a sentence follows from its source: labelled pairs in four languages, half of them wrong in one detail."""
