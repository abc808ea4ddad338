"""Where documents come from, one file each."""
