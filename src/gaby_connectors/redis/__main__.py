"""`python -m gaby_connectors.redis`."""

from gaby_connectors.redis.tools import connector
from gaby_connectors.sdk.serve import main

main(connector)
