"""What each argument of a tool is probably for, with the reason: the arguments of a drafted manifest."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gaby.safety import ArgumentRole, kind_of_argument
from gaby.safety.arguments import is_bounded, is_place
from gaby.safety.manifest_guess import is_verb_of_change, words_of
from gaby.safety.schemas import Schema, properties_of, resolved
from gaby_connectors.sdk.manifest import GABY_ARGUMENTS

MOST_ARGUMENTS = 100
"""A tool with more gets no roles: then every argument steers, and nobody has to read a list of thousands."""
_KEYS = frozenset({"email", "emails", "mail", "phone", "channel", "channels", "mailbox", "iban"})
_FREE_TEXT = frozenset(
    words_of(
        "body caption comment content description details html markdown message note notes reason subject summary text "
        "title"
    )
)
_HARMLESS = frozenset({"lang", "language", "locale", "page", "page_size", "per_page", "timezone", "tz"})
_PEOPLE = frozenset(
    {"account", "contact", "customer", "employee", "member", "owner", "patient", "person", "requester", "subscriber"}
    | {"user", "email", "user_email", "customer_email", "username", "user_name"}
)
_BELONGINGS = frozenset(
    words_of(
        "booking charge delivery device invoice license login order payment refund reservation session shipment "
        "subscription ticket"
    )
)
"""Things that one person has and others do not share. A group or a project belongs to many."""
_NAMEABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_KIND = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class ArgumentGuess:
    role: ArgumentRole
    reason: str


_KEY = ArgumentGuess(ArgumentRole.LOOKUP, "a key to find something by; if the tool sends anything there, a destination")
_BOUNDED = ArgumentGuess(ArgumentRole.PLAIN, "a number, a date or a fixed choice that names nobody")


def lookups_of(schema: Schema) -> list[str]:
    """Arguments that name somebody by an address: a key, if the tool only reads."""
    return [name for name, declared in _arguments(schema).items() if _is_key(name, declared, schema)]


def guess_arguments(schema: Schema, *, reads: bool) -> dict[str, ArgumentGuess]:
    """Those that a manifest can name. All others keep the careful role that they have without one."""
    schemas = {name: each for name, each in _arguments(schema).items() if _NAMEABLE.fullmatch(name)}
    if len(schemas) > MOST_ARGUMENTS:
        return {}
    return {name: _guess(name, declared, schema, reads=reads) for name, declared in schemas.items()}


def unnameable_arguments(schema: Schema) -> list[str]:
    return [name for name in _arguments(schema) if not _NAMEABLE.fullmatch(name)]


def guess_kinds(tool: str, schema: Schema) -> dict[str, str]:
    """`id` of `close_account` names an account. Names such as `account_id` say it themselves."""
    kind = kind_of_tool(tool)
    if kind is None:
        return {}
    bare = [name for name in _arguments(schema) if name.casefold() in {"id", "ids", "uuid", "key", "number"}]
    return dict.fromkeys(bare, kind)


def kind_of_tool(tool: str) -> str | None:
    """The thing in the tool's name, if it is one: what follows the verb and stands before `by`."""
    words = words_of(re.split(r"[./]", tool)[-1])[1:]
    if "by" in words:
        words = words[: words.index("by")]
    if not words or len(words) > 2 or any(is_verb_of_change(word) for word in words[1:]):
        return None
    kind = kind_of_argument("_".join(words))
    return kind if kind is not None and _KIND.fullmatch(kind) else None


def guess_owner_argument(schema: Schema, kinds: Mapping[str, str]) -> str | None:
    """For a read that takes one person, or one thing of theirs, and nothing else that names anything:
    `list_logins(user_id)`. With a second name, the first need not be whose the result is."""
    naming = [name for name, declared in _arguments(schema).items() if not is_bounded(name, declared, schema)]
    required = schema.get("required")
    if len(naming) != 1 or not isinstance(required, list) or naming[0] not in required:
        return None
    name = naming[0]
    kind = kinds.get(name) or kind_of_argument(name)
    is_theirs = name.casefold() in _PEOPLE or kind in _PEOPLE | _BELONGINGS
    is_text = resolved(_arguments(schema)[name], schema).get("type") in {"string", "integer"}
    return name if is_theirs and is_text and _NAMEABLE.fullmatch(name) else None


def _guess(name: str, declared: Schema, root: Schema, *, reads: bool) -> ArgumentGuess:
    if is_place(name, declared, root):
        is_key = reads and _is_key(name, declared, root)
        return (
            _KEY if is_key else ArgumentGuess(ArgumentRole.DESTINATION, "its name or format says where something goes")
        )
    bounded = is_bounded(name, declared, root)
    if reads:
        return _BOUNDED if bounded else ArgumentGuess(ArgumentRole.STEERING, "chooses what is read")
    if name.casefold() in _HARMLESS:
        return ArgumentGuess(ArgumentRole.PLAIN, "how things are shown, not what is changed")
    if not bounded and _last(name) in _FREE_TEXT and _is_text(declared, root):
        return ArgumentGuess(ArgumentRole.CONTENT, "free text, by its name; if it chooses anything, let it steer")
    how = "an amount, a switch or a choice decides what is changed" if bounded else "chooses whom or what is changed"
    return ArgumentGuess(ArgumentRole.STEERING, how)


def _arguments(schema: Schema) -> Mapping[str, Schema]:
    return {name: each for name, each in properties_of(schema, schema).items() if name not in GABY_ARGUMENTS}


def _is_key(name: str, declared: Schema, root: Schema) -> bool:
    """By its own name alone: an object with places inside of it, or a link, is no key."""
    named = _last(name) in _KEYS and not is_place("value", {**resolved(declared, root), "format": ""}, root)
    return named and resolved(declared, root).get("format") in {None, "email", "idn-email"}


def _is_text(declared: Schema, root: Schema) -> bool:
    return resolved(declared, root).get("type") == "string"


def _last(name: str) -> str:
    words = words_of(name)
    return words[-1] if words else ""
