"""`python -m gaby_connectors.time`."""

from gaby_connectors.sdk.serve import main
from gaby_connectors.time.tools import connector

main(connector)
