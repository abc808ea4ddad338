"""`python -m gaby_connectors.prometheus`."""

from gaby_connectors.prometheus.tools import connector
from gaby_connectors.sdk.serve import main

main(connector)
