"""Provenance: where every value in a run came from, so that content from outside cannot choose what is changed."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from gaby.safety.arguments import ArgumentLeaf
from gaby.safety.exfiltration import find_carriers
from gaby.safety.readers import ReadingRecord
from gaby.safety.value_match import SearchableText, fills_template, quote, says, says_literal, says_quantity, words
from gaby.safety.verdicts import Quote


class Label(StrEnum):
    OPERATOR = "operator"
    """A playbook, the configuration, an operator's own words, what a person approved."""
    CREATED = "created"
    """Made by this very run. It may be gone on with; to destroy it somebody has to stand behind it."""
    SYSTEM = "system"
    """Minted by a connector's own backend, as its manifest declares."""
    TEMPLATE = "template"
    """Words for people, put together as an operator wrote: `'Dinner at {restaurant}'`."""
    PRINCIPAL = "principal"
    """The verified requester, and what is bound to them."""
    EXTERNAL = "external"
    """Everything else."""


TEXT_KIND = "text"
"""The kind of an argument that names nothing: a title, a subject."""


@dataclass(frozen=True)
class ValueUse:
    """Where a value is used: an argument of a tool, and the kind of thing that it names there."""

    connector: str
    kind: str | None = None


@dataclass(frozen=True)
class Origin:
    label: Label
    source: str
    """In a person's words: `the playbook Refunds`, `result of directory.find_user`."""
    connector: str | None = None
    """Whose value it is. It counts only for that connector's own tools; None is for words and for mail addresses."""
    kind: str | None = None
    """What it names there. The number of a note vouches for a note, and not for an account."""

    def counts_for(self, leaf: ArgumentLeaf, use: ValueUse) -> bool:
        if leaf.argument.endswith("{}"):
            # The name of a field is no value of anybody's: only an operator's words can choose it.
            return False
        if self.connector is None:
            return True
        return self.connector == use.connector and self.kind is not None and self.kind == use.kind


@dataclass(frozen=True)
class ArgumentTrace:
    """Where one value of a call came from."""

    leaf: ArgumentLeaf
    origins: tuple[Origin, ...]
    quotes: tuple[Quote, ...] = ()

    def has(self, *labels: Label) -> bool:
        return any(origin.label in labels for origin in self.origins)


_KEPT_TEXTS = 400
_KEPT_CHARACTERS = 20_000
_QUOTES = 3


@dataclass
class ProvenanceLedger:
    """What one run has learned, and from where. What it does not know is EXTERNAL."""

    reading: ReadingRecord = field(default_factory=ReadingRecord)
    """Who may be told of what was read."""
    _values: dict[str, tuple[Origin, ...]] = field(default_factory=dict[str, tuple[Origin, ...]])
    _operator: list[SearchableText] = field(default_factory=list[SearchableText])
    _external: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _carriers: set[str] = field(default_factory=set[str])
    _unread: list[str] = field(default_factory=list[str])
    """Trusted texts that have not been searched for links and addresses yet."""
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

    def trust_carriers(self, text: str) -> None:
        """Links and addresses in a text of the company's own may be told to others. It steers nothing."""
        self._unread.append(text)

    def learn(self, value: str, origin: Origin) -> None:
        """A single trusted value. EXTERNAL values need no entry."""
        known = self._values.get(value.strip(), ())
        if value.strip() and origin not in known:
            self._values[value.strip()] = (*known, origin)
            # What names a thing of one connector is no address for the world, whatever it looks like.
            if origin.connector is None:
                self._unread_values.append(value.strip())

    def learn_all(self, values: Iterable[str], origin: Origin) -> None:
        for value in values:
            self.learn(value, origin)

    def learn_principal(self, *addresses: str) -> None:
        """What identifies the verified requester in every system."""
        self.learn_all(addresses, Origin(Label.PRINCIPAL, "the verified requester"))

    def revoke_principals(self) -> None:
        """Somebody else may have written in the requester's name: nothing is bound to the requester any more."""
        for value, known in self._values.items():
            self._values[value] = tuple(origin for origin in known if origin.label is not Label.PRINCIPAL)

    def origins(self, leaf: ArgumentLeaf, use: ValueUse) -> tuple[Origin, ...]:
        """Everybody trusted who named the value; an operator's words first. Nobody means that it is EXTERNAL."""
        # With a blank around it, it is another value for whoever receives it.
        known = self._values.get(leaf.value, ())
        mine = tuple(origin for origin in known if origin.counts_for(leaf, use))
        said = tuple(Origin(Label.OPERATOR, each.source) for each in self._operator if _says(each, leaf))
        if said or mine or use.kind != TEXT_KIND or leaf.argument.endswith("{}"):
            return (*said, *mine)
        return tuple(Origin(Label.TEMPLATE, each.source) for each in self._operator if fills_template(each, leaf.value))

    def vouches_whole(self, text: str, connector: str) -> bool:
        """Whether the text is, from end to end, one value that this connector's own backend vouches for."""
        return any(origin.connector == connector for origin in self._values.get(text, ()))

    def trace(self, leaf: ArgumentLeaf, use: ValueUse) -> ArgumentTrace:
        """The origins of a value; if it has none, where outside it was seen, for the person who is asked."""
        origins = self.origins(leaf, use)
        if origins or leaf.literal:
            return ArgumentTrace(leaf, origins)
        quotes = (quote(source, text, leaf.value) for source, text in reversed(self._external))
        return ArgumentTrace(leaf, (), tuple(islice(filter(None, quotes), _QUOTES)))

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


def _says(said: SearchableText, leaf: ArgumentLeaf) -> bool:
    if leaf.literal:
        return says_literal(said, leaf.argument, leaf.value)
    return says_quantity(said, leaf.value) if leaf.quantity else says(said, leaf.value)
