"""What an operation does, and which of its arguments lead somewhere, as far as names and schemas tell.

An OpenAPI file says neither, so the careful reading holds unless an operator says otherwise in the settings: a GET is a
read only if nothing about it names a change, every argument of a write steers, and whatever could hold an address does.
"""

import re
from collections.abc import Iterable
from typing import Any, cast

from gaby_connectors.http_openapi.operations import Argument, Operation
from gaby_connectors.sdk.verbs import CHANGES, looks_destructive

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PLACEHOLDER = re.compile(r"{[^}]*}")
_READS = frozenset(
    (
        *(
            "check",
            "count",
            "describe",
            "download",
            "exists",
            "export",
            "fetch",
            "find",
            "get",
            "has",
            "head",
            "health",
        ),
        *("index", "inspect", "is", "list", "lookup", "ping", "preview", "query", "read", "retrieve", "search", "show"),
        *("stat", "stats", "status", "summarize", "view", "whoami"),
    )
)
_NOUNS_TOO = frozenset(
    (
        *("block", "book", "buy", "call", "change", "charge", "close", "commit", "credit"),
        *("debit", "format", "hold", "import", "issue", "link", "load", "lock", "log"),
        *("mark", "open", "order", "patch", "pin", "post", "process", "queue", "rebuild"),
        *("refund", "release", "reply", "request", "return", "run", "scale", "schedule", "set"),
        *("share", "sign", "split", "store", "tag", "trade", "transfer", "update", "use"),
    )
)
"""Verbs only where a verb is expected: at the beginning of a name, or as the last step of a path."""
_VERBS = CHANGES - _NOUNS_TOO
"""Verbs wherever they stand."""
_COMMANDS = frozenset(
    ("action", "cmd", "command", "do", "event", "func", "function", "method", "op", "operation", "verb")
)
"""Arguments that choose what is done."""
_ADDRESS_FORMATS = frozenset(
    ("uri", "url", "uri-reference", "iri", "iri-reference", "hostname", "idn-hostname", "ipv4", "ipv6")
)
_ADDRESS_WORDS = frozenset(
    (
        *("callback", "callbacks", "dest", "destination", "destinations", "endpoint", "endpoints", "forward", "host"),
        *("hostname", "hosts", "href", "hook", "link", "links", "origin", "proxy", "redirect", "server", "site"),
        *("target", "targets", "uri", "uris", "url", "urls", "webhook", "webhooks", "website"),
    )
)
_RECIPIENT_WORDS = frozenset(
    (
        *("bcc", "cc", "email", "emails", "mail", "mailto", "notify", "phone", "recipient", "recipients", "sms", "to"),
        *("iban", "payee", "beneficiary"),
    )
)
_MOST_NODES = 20_000


def is_read(operation: Operation, declared: Iterable[str]) -> bool:
    """Whether it only looks: an operator says so, or it is a GET and nothing about it names a change."""
    if operation.name in set(declared):
        return True
    return operation.method in ("GET", "HEAD") and not _names_change(operation) and _names_nothing_else(operation)


def is_dangerous(operation: Operation) -> bool:
    """Whether it destroys, pays, locks out or grants, by its method or by any word in its name and path."""
    words = [*_words(operation.given_name), *_words(" ".join(_steps(operation)))]
    flags = [word for argument in operation.arguments if argument.place == "query" for word in _words(argument.name)]
    return operation.method == "DELETE" or any(looks_destructive(word) for word in [*words, *flags])


def leads_somewhere(argument: Argument, *, writes: bool) -> bool:
    """Whether a value in it can be an address that data goes to: by its name, or by any part of its schema.

    Of a read, a person's address is what is looked for; of a write, it is who is told or paid.
    """
    if argument.schema.get("type") in ("boolean", "integer", "number"):
        return False
    wanted = _ADDRESS_WORDS | _RECIPIENT_WORDS if writes else _ADDRESS_WORDS
    formats = _ADDRESS_FORMATS | {"email", "idn-email"} if writes else _ADDRESS_FORMATS
    names = set(_words(argument.wire_name))
    formats_of_parts = {str(part.get("format")) for part in _schemas(argument.schema)}
    for part in _schemas(argument.schema):
        properties = part.get("properties")
        if isinstance(properties, dict):
            names |= {word for name in cast("dict[str, Any]", properties) for word in _words(name)}
    return not names.isdisjoint(wanted) or not formats_of_parts.isdisjoint(formats)


def _names_change(operation: Operation) -> bool:
    name, steps = _words(operation.given_name), _steps(operation)
    said = {*name, *_words(" ".join(steps))}
    queries = [_words(argument.wire_name) for argument in operation.arguments if argument.place == "query"]
    asked = {word for words in queries for word in words}
    at_the_end = not operation.path.rstrip("/").endswith("}") and len(steps) > 0 and "{" in operation.path
    expected = {*name[:1], *(_words(steps[-1])[:1] if at_the_end else [])}
    return bool(said & _VERBS or asked & (_VERBS | _COMMANDS) or expected & _NOUNS_TOO)


def _names_nothing_else(operation: Operation) -> bool:
    """A name that says more than its path, and no word for reading, may say anything."""
    name = set(_words(operation.given_name))
    return not name or bool(name & _READS) or name <= set(_words(operation.path)) | _READS


def _steps(operation: Operation) -> list[str]:
    return [step for step in _PLACEHOLDER.sub("", operation.path).split("/") if step]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _schemas(schema: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The schema and everything in it, at whatever keyword: `items`, `anyOf`, `definitions`."""
    waiting: list[Any] = [schema]
    left = _MOST_NODES
    while waiting and left > 0:
        value = waiting.pop()
        left -= 1
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            yield fields
            waiting.extend(fields.values())
        elif isinstance(value, list):
            waiting.extend(cast("list[Any]", value))
