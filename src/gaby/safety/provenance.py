"""Provenance: where every value in a run came from, so that content from outside cannot choose what is changed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from gaby.safety.arguments import Leaf
from gaby.safety.carriers import find_carriers
from gaby.safety.matching import Words, quote, says, says_quantity, words
from gaby.safety.verdicts import Quote


class Label(StrEnum):
    OPERATOR = "operator"
    """A playbook, the configuration, an operator's own words, an approved plan."""
    SYSTEM = "system"
    """Minted by a connector's own backend, as its manifest declares."""
    PRINCIPAL = "principal"
    """The verified requester, and what is bound to them."""
    EXTERNAL = "external"
    """Everything else."""


@dataclass(frozen=True)
class Origin:
    label: Label
    source: str
    """In a person's words: `the playbook Refunds`, `result of directory.find_user`."""
    connector: str | None = None
    """Who vouches for a SYSTEM value. It counts only for that connector's own tools."""
    kind: str | None = None
    """What a SYSTEM value names. A channel's name vouches for a channel, and not for a web address."""


@dataclass(frozen=True)
class Trace:
    """Where one value of a call came from."""

    leaf: Leaf
    origins: tuple[Origin, ...]
    quotes: tuple[Quote, ...] = ()

    def has(self, *labels: Label) -> bool:
        return any(origin.label in labels for origin in self.origins)


_KEPT_TEXTS = 400
_KEPT_CHARACTERS = 20_000
_QUOTES = 3


@dataclass
class Ledger:
    """What one run has learned, and from where. What it does not know is EXTERNAL."""

    _values: dict[str, tuple[Origin, ...]] = field(default_factory=dict[str, tuple[Origin, ...]])
    _operator: list[Words] = field(default_factory=list[Words])
    _external: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _carriers: set[str] = field(default_factory=set[str])
    _unread: list[str] = field(default_factory=list[str])
    """An operator's texts that have not been searched for links and addresses yet."""
    _unread_values: list[str] = field(default_factory=list[str])
    """Trusted values that may be a link or an address."""

    def hear_operator(self, source: str, text: str) -> None:
        """An operator's own words. Whatever they name as a whole, they have chosen."""
        self._operator.append(words(source, text))
        self._unread.append(text)

    def read_external(self, source: str, text: str) -> None:
        """Remembered only so that a person can be shown where a value came from."""
        self._external.append((source, text[:_KEPT_CHARACTERS]))
        del self._external[:-_KEPT_TEXTS]

    def learn(self, value: str, origin: Origin) -> None:
        """A single trusted value. EXTERNAL values need no entry."""
        known = self._values.get(value.strip(), ())
        if value.strip() and origin not in known:
            self._values[value.strip()] = (*known, origin)
            # What names a thing of some kind is no address, whatever it looks like.
            if origin.kind is None:
                self._unread_values.append(value.strip())

    def learn_all(self, values: Iterable[str], origin: Origin) -> None:
        for value in values:
            self.learn(value, origin)

    def learn_principal(self, *values: str) -> None:
        """What identifies the verified requester."""
        self.learn_all(values, Origin(Label.PRINCIPAL, "the verified requester"))

    def origins(self, leaf: Leaf, connector: str, kind: str | None = None) -> tuple[Origin, ...]:
        """Everybody trusted who named the value; an operator's words first. Nobody means that it is EXTERNAL."""
        known = self._values.get(leaf.value.strip(), ())
        wanted = (connector, kind)
        mine = tuple(o for o in known if o.label is not Label.SYSTEM or (o.connector, o.kind) == wanted)
        spoken = says_quantity if leaf.quantity else says
        said = tuple(Origin(Label.OPERATOR, w.source) for w in self._operator if spoken(w, leaf.value))
        return (*said, *mine)

    def trace(self, leaf: Leaf, connector: str, kind: str | None = None) -> Trace:
        """The origins of a value; if it has none, where outside it was seen, for the person who is asked."""
        found = self.origins(leaf, connector, kind)
        if found:
            return Trace(leaf, found)
        quotes = (quote(source, text, leaf.value) for source, text in reversed(self._external))
        return Trace(leaf, (), tuple(islice(filter(None, quotes), _QUOTES)))

    def trusts_carrier(self, value: str) -> bool:
        """Whether a link, an address or an account number inside a text is one that somebody trusted has named."""
        # Most runs never ask, and searching every value that a system returned would cost more than all the rest.
        for text in self._unread:
            self._carriers.update(carrier.value for carrier in find_carriers(text))
        for known in self._unread_values:
            # Only as a whole: a name that contains a link does not vouch for the link.
            whole = [carrier for carrier in find_carriers(known) if (carrier.start, carrier.end) == (0, len(known))]
            self._carriers.update(carrier.value for carrier in whole)
        self._unread.clear()
        self._unread_values.clear()
        return value in self._carriers
