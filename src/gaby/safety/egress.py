"""Egress: what inside a text could carry data out or lead somebody somewhere, and whether anybody vouches for it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gaby.safety.arguments import ArgumentLeaf, ArgumentRole, leaves
from gaby.safety.exfiltration import find_carriers
from gaby.safety.provenance import ProvenanceLedger

_NEVER_UNASKED = frozenset({"secret", "card"})
"""Whoever typed them, they do not leave without a person's consent."""
_POSTAL_CODE = 7


@dataclass(frozen=True)
class CarrierFact:
    argument: str
    kind: str
    value: str
    trusted: bool
    """Named by an operator, bound to the requester, or minted by a connected system."""

    @property
    def is_secret(self) -> bool:
        return self.kind in _NEVER_UNASKED


def carriers_in(
    arguments: Mapping[str, Any], roles: Mapping[str, ArgumentRole], ledger: ProvenanceLedger, connector: str
) -> Iterator[CarrierFact]:
    for name, value in arguments.items():
        if roles.get(name) is not ArgumentRole.CONTENT:
            continue
        for leaf in leaves(name, value):
            yield from _carriers_of(leaf, ledger, connector)


def links_in_lookups(
    arguments: Mapping[str, Any], roles: Mapping[str, ArgumentRole], ledger: ProvenanceLedger
) -> Iterator[CarrierFact]:
    """Whole links in arguments of a read that its manifest does not call a key: what fetches a link sends something."""
    for name, value in arguments.items():
        if roles.get(name) is ArgumentRole.STEERING:
            for leaf in leaves(name, value):
                whole = (0, len(leaf.value.strip()))
                # `https:/evil.example` and `https:\\evil.example` lead to the same place for many readers of links.
                carriers = find_carriers(leaf.value.strip()) if "/" in leaf.value or "\\" in leaf.value else []
                for carrier in carriers:
                    is_link = carrier.kind == "link" and "//" in carrier.value
                    if is_link and (carrier.start, carrier.end) == whole:
                        yield CarrierFact(leaf.argument, "link", carrier.value, ledger.trusts_carrier(carrier.value))


def _carriers_of(leaf: ArgumentLeaf, ledger: ProvenanceLedger, connector: str) -> Iterator[CarrierFact]:
    for carrier in find_carriers(leaf.value):
        if leaf.quantity and carrier.kind not in _NEVER_UNASKED:
            # A number that counts names nobody; but a card is one also when it is written as a number.
            continue
        # What a system returned goes back to it as it came: an address with its postal code. Not so a link or an
        # account number, which somebody may have planted as the name of something.
        is_short = carrier.kind == "number" and len(carrier.value) <= _POSTAL_CODE
        returned = is_short and ledger.vouches_whole(leaf.value, connector)
        trusted = returned or ledger.trusts_carrier(carrier.value)
        yield CarrierFact(leaf.argument, carrier.kind, carrier.value, trusted)
