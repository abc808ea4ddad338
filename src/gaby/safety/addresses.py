"""Who somebody is: the spelling in which owners, requesters and readers are compared."""

from gaby.kernel.mail_addresses import canonical_address
from gaby.safety.value_match import same_case


def canonical_identity(name: str) -> str:
    """A mail address in its one spelling; other names with A to Z in one case. What else differs is somebody else."""
    return canonical_address(name) or same_case(name.strip())
