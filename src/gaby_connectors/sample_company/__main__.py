"""`python -m gaby_connectors.sample_company`."""

from gaby_connectors.sample_company.tools import connector
from gaby_connectors.sdk.serve import main

main(connector)
