"""`python -m gaby_connectors.ldap`."""

from gaby_connectors.ldap.tools import connector
from gaby_connectors.sdk.serve import main

main(connector)
