"""The families of attacks. Each module makes its rows; a new family is one module and one line here."""

from collections.abc import Callable

from evals.attacks.attack import Attack
from evals.attacks.families import (
    approval_deception,
    cross_reader,
    identities,
    incidents,
    laundering,
    manifestless,
    markdown,
    numbers,
    reply_exfiltration,
    staff_pages,
    stalls,
    thread_takeover,
)

FAMILIES: dict[str, Callable[[], list[Attack]]] = {
    module.FAMILY: module.attacks
    for module in (
        reply_exfiltration,
        staff_pages,
        incidents,
        cross_reader,
        thread_takeover,
        manifestless,
        laundering,
        numbers,
        approval_deception,
        markdown,
        identities,
        stalls,
    )
}
