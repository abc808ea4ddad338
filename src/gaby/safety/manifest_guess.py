"""What a tool without a manifest probably does. A guess is only ever careful: a hint or a description of the server can
turn a read into a write, and never a write into a read."""

import re
from collections.abc import Iterator, Sequence

from gaby.safety.arguments import is_place
from gaby.safety.schemas import Schema, properties_of, resolved
from gaby.safety.tool_descriptions import (
    DENIAL,
    MODEL_INSTRUCTION,
    SENTENCE_VERB,
    description_doubt,
    sentence_reads,
    verb_modifier,
)
from gaby_connectors.sdk.manifest import GABY_ARGUMENTS, ToolManifest
from gaby_connectors.sdk.verbs import CHANGES

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words_of(name: str) -> list[str]:
    """`getUser`, `get-user` and `HTTPStatus` as small words, in their order."""
    return [word.casefold() for word in _WORD.findall(name)]


_READS = frozenset(
    words_of(
        "check count describe diff download fetch find get inspect list lookup ping query read search show stat status "
        "summarize tail tree view whoami healthcheck"
    )
)
_READ_NOUNS = frozenset(words_of("count info lookup search stats status whoami"))
"""What a read may be called after when no verb comes first: `order_status`."""
_NOUNS_TOO = frozenset(
    words_of(
        "book call change charge commit credit debit format hold issue link load lock log order patch pin post process "
        "queue refund release reply request return run scale schedule set share split store tag trade transfer "
        "update use"
    )
)
"""Verbs that are also the names of things: `get_order` reads, `order_lunch` does not."""
_COMPOUND_NOUN = re.compile(r"(?<=[a-z])(?:_(?:pull|merge)_request|(?:Pull|Merge)Request)(?=s?(?:_|[A-Z]|$))")
"""Things whose names are verbs, after another word: `get_pull_request_files` requests nothing."""
_CONJUNCTIONS = frozenset(words_of("and or then else"))
_EXECUTED = frozenset(words_of("sql script command cmd statement mutation shell graphql method payload body"))
"""Arguments that hold something to be carried out, so that their value decides what the tool does."""


_FILTERS = frozenset(words_of("exclude has include is only show"))
"""How arguments begin that only say which rows are wanted: `only_open`."""


def guess(name: str, schema: Schema, *, read_only_hint: bool | None) -> ToolManifest:
    """A read, if everything about the tool says so; otherwise a write, which nobody may use without a manifest."""
    if next(reading_doubts(name, schema, read_only_hint=read_only_hint), None) is None:
        return ToolManifest(scope="read")
    return ToolManifest(scope="write", dangerous=True)


def reading_doubts(
    name: str,
    schema: Schema,
    *,
    read_only_hint: bool | None,
    description: str | None = None,
    lookups: Sequence[str] = (),
) -> Iterator[str]:
    """Why a tool may do more than read. `lookups` are arguments that look like places and are only keys. Without
    `description` only the name and the schema are looked at; an empty one is a doubt."""
    if read_only_hint is False:
        yield "the server itself says that it does not only read"
    yield from _name_doubts(name)
    if description is not None:
        if (word := _changing_sentence(description)) is not None:
            yield f"its description says `{word}`"
        if (doubt := description_doubt(description)) is not None:
            yield doubt
    yield from _argument_doubts(schema, lookups)


def _argument_doubts(schema: Schema, lookups: Sequence[str]) -> Iterator[str]:
    for argument, declared in properties_of(schema, schema).items():
        if argument in GABY_ARGUMENTS:
            yield f"it takes `{argument}`, as changes do"
        elif not argument.isascii():
            # Words with other letters are not seen below.
            yield f"`{argument}` has letters that no word here has"
        elif argument not in lookups and is_place(argument, declared, schema):
            yield f"`{argument}` can choose where data goes"
        elif not _EXECUTED.isdisjoint(words_of(argument)[-1:]):
            yield f"`{argument}` can say what is carried out"
        elif _switches_a_change(argument, resolved(declared, schema)):
            yield f"`{argument}` can switch on a change"


def _name_doubts(name: str) -> Iterator[str]:
    if not name.isascii():
        # Words with other letters are not seen below: `get_удалить`.
        yield "its name has letters that no verb here has"
    if not _reads(name):
        yield "its name does not begin with a verb of reading"
    if (word := _changing_word(name)) is not None:
        yield f"`{word}` in its name may change something"
    if (word := verb_modifier(_operation_words(name))) is not None:
        yield f"`{word}` in its name makes it another verb than one of reading"


def is_verb_of_change(word: str) -> bool:
    return word in CHANGES


def _reads(name: str) -> bool:
    words = _operation_words(name)
    return bool(words) and (words[0] in _READS or words[-1] in _READ_NOUNS)


def _operation_words(name: str) -> list[str]:
    """In `conversations.list` the operation is what follows the last dot."""
    return words_of(re.split(r"[./]", name)[-1])


def _changing_word(name: str) -> str | None:
    words = words_of(_COMPOUND_NOUN.sub("_review", name))
    for at, word in enumerate(words):
        if word in _CONJUNCTIONS:
            # Whatever follows need not be a verb that is known here: `get_or_provision_user`.
            return word
        after_verb = words[at - 1] in _READS
        is_thing = word in _NOUNS_TOO and at > 0 and (after_verb or at == len(words) - 1)
        if is_verb_of_change(word) and not is_thing:
            return word
    return None


def _changing_sentence(description: str) -> str | None:
    """The first verb of a sentence, and what follows an `and`. Other words say what things are, not what is done."""
    for match in SENTENCE_VERB.finditer(description):
        word = (match[1] or match[2]).casefold()
        if word in {"return", "returns"} and sentence_reads(description[match.start() :]):
            continue
        if DENIAL.match(description, match.end()):
            continue
        if word == "use" and MODEL_INSTRUCTION.match(description, match.end()):
            continue
        forms = {word.removesuffix("s"), word.removesuffix("es")}
        if match[2] is not None:
            forms = {form for form in forms if form not in _NOUNS_TOO}
        if any(is_verb_of_change(form) for form in forms):
            return word
    return None


def _switches_a_change(argument: str, declared: Schema) -> bool:
    chooses = declared.get("type") == "boolean" or "enum" in declared
    words = words_of(argument)
    changes = any(is_verb_of_change(word) for word in words) and words[-1] not in {"order", "format"}
    return chooses and changes and words[0] not in _FILTERS
