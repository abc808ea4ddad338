"""E-mail addresses, links, hosts, network addresses and telephones, as `gaby.safety` recognises them."""

import re
from collections.abc import Iterator

from gaby.mind.entities.entity import Entity, EntityKind, made_up_words, said_before
from gaby.safety.redaction.detection import recognise
from gaby.safety.redaction.links import LinkSpan, find_links
from gaby.safety.redaction.spans import SECRET_KINDS, Kind

_AS_ENTITY: dict[Kind, EntityKind] = {"email": "email", "ip": "ip", "phone": "phone"}
_WITHHELD: frozenset[Kind] = SECRET_KINDS | frozenset[Kind]({"card", "iban"})
_PLACEHOLDER = re.compile(r"\[(email|ip|phone|account):[0-9]{1,6}(?:\.[0-9]{1,6})?-[a-z0-9]{6,16}\]")
_LOOPBACK = re.compile(
    r"(?<![\w.:])(?:127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|0\.0\.0\.0|::1)(?!\w|\.[0-9]|:[0-9A-Fa-f]{0,4}:)"
)
_LOCAL_NAME = re.compile(
    r"(?<![\w.@/\-])(?:localhost|(?:[A-Za-z0-9\-]{1,63}+\.){1,6}"
    r"(?:local|internal|lan|corp|intranet|intra|localdomain|svc))(?![\w\-]|\.\w)"
)
_CALLED_HOST = re.compile(
    r"\b(?:host|hostname|server|machine|node|vm|workstation|laptop|printer|instance|switch|router|firewall)"
    r"(?: name)?(?: is |: ?| ?= ?| named | called | )[\"'`]?\Z",
    re.IGNORECASE,
)
_HOST_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9\-]{1,62}")
_NAME_END = re.compile(r"[\w.\-]+")
_WINDOW = 4096
"""Links are looked for in stretches of this size: comparing each with each is then never much work."""

Withheld = list[tuple[int, int]]


def withheld(text: str) -> Withheld:
    """Where secrets and payment data stand: no value may be taken from there."""
    return [(span.start, span.end) for span in recognise(text, _WITHHELD)]


def find_addresses(text: str) -> tuple[list[Entity], Withheld]:
    """And where secrets stand, in which nothing may be found."""
    entities = list(_placeholders(text))
    secrets: Withheld = []
    for span in recognise(text, _WITHHELD | set(_AS_ENTITY)):
        if kind := _AS_ENTITY.get(span.kind):
            value = text[span.start : span.end]
            entities.append(Entity(kind, value, span.start, span.end, value.lower() if kind == "email" else None))
        else:
            secrets.append((span.start, span.end))
    entities += _links(text)
    entities += (Entity("ip", here[0], here.start(), here.end()) for here in _LOOPBACK.finditer(text))
    entities += (_host(here[0], here.start(), here.end()) for here in _LOCAL_NAME.finditer(text))
    entities += _called_hosts(text)
    return entities, secrets


def _called_hosts(text: str) -> Iterator[Entity]:
    for word in made_up_words(text):
        value = word[0].rstrip("-./_")
        after = text[word.end() : word.end() + 1]
        if _HOST_LABEL.fullmatch(value) and after != "@" and said_before(_CALLED_HOST, text, word.start()):
            yield _host(value, word.start(), word.start() + len(value))


def _placeholders(text: str) -> Iterator[Entity]:
    """What the redactor left in the place of a value is as good as the value: tools get the value back."""
    kinds: dict[str, EntityKind] = {"email": "email", "ip": "ip", "phone": "phone", "account": "id"}
    for match in _PLACEHOLDER.finditer(text):
        yield Entity(kinds[match[1]], match[0], match.start(), match.end())


def _links(text: str) -> Iterator[Entity]:
    start = 0
    while start < len(text):
        end = _window_end(text, start)
        for link in find_links(text[start:end]):
            if entity := _from_link(text, start, link):
                yield entity
        start = end


def _window_end(text: str, start: int) -> int:
    end = start + _WINDOW
    if end >= len(text):
        return len(text)
    blank = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return blank + 1 if blank >= 0 else end


def _from_link(text: str, offset: int, link: LinkSpan) -> Entity | None:
    start, end = offset + link.start, offset + link.end
    value = text[start:end]
    if link.value.startswith("file://"):
        return Entity("path", value, start, end)
    if link.is_bare or ("://" not in value and not _leads_on(value)):
        name = _NAME_END.match(value)
        return _host(name[0].rstrip("."), start, start + len(name[0].rstrip("."))) if name else None
    return Entity("url", value, start, end)


def _leads_on(value: str) -> bool:
    """Whether a name without a scheme has a path behind it, and not only a port."""
    return any(mark in value for mark in "/?#")


def _host(value: str, start: int, end: int) -> Entity:
    return Entity("host", value, start, end, value.lower())
