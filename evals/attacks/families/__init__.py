"""The families of attacks. Each module makes its rows; a new family is one module and one line here."""

from collections.abc import Callable

from evals.attacks.attack import Attack
from evals.attacks.families import cross_reader, reply_exfiltration

FAMILIES: dict[str, Callable[[], list[Attack]]] = {
    module.FAMILY: module.attacks
    for module in (
        reply_exfiltration,
        cross_reader,
    )
}
