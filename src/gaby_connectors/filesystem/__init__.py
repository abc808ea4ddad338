"""Filesystem: the files below one folder, to read and search; to write only if the operator allows it."""
