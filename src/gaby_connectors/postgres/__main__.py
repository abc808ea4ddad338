"""`python -m gaby_connectors.postgres`."""

import resource

from gaby_connectors.postgres.tools import connector
from gaby_connectors.sdk.serve import main

# One value of a row can be a gigabyte, and the driver reads rows as a whole: better an error than a full machine.
MOST_MEMORY = 768 * 1024 * 1024
resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
main(connector)
