"""Ends before it begins."""

import sys

sys.exit(3)
