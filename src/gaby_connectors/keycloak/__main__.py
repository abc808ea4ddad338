"""`python -m gaby_connectors.keycloak`."""

from gaby_connectors.keycloak.tools import connector
from gaby_connectors.sdk.serve import main

main(connector)
