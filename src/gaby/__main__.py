"""`python -m gaby` is `gaby`."""

from gaby.cli import main

main()
