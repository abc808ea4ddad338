"""Tools without a manifest: at most a guess that they only read, and never more than that."""

import re

from gaby.safety.arguments import is_place
from gaby.safety.schemas import Schema, properties_of
from gaby_connectors.sdk.manifest import ToolManifest

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))


_READS = _words(
    "check count describe diff download fetch find get inspect list lookup ping query read search show stat status "
    "summarize tail tree view whoami"
)
_CHANGES = _words(
    "abort accept activate add append apply approve archive assign attach ban block book buy call cancel change charge "
    "clear clone close commit confirm copy create deactivate delete deny deploy destroy detach disable dispatch drop "
    "edit emit enable erase eval exec execute forward grant import insert install invite invoke issue kill launch lock "
    "mark merge modify move mute open order overwrite pay post publish purge push put reboot refund reject remove "
    "rename replace reply reset resolve restart restore revoke rotate run save schedule send set share sign start stop "
    "submit subscribe suspend sync terminate transfer trigger truncate unlock unset update upload upsert write"
)


def guess(name: str, schema: Schema, *, read_only_hint: bool | None) -> ToolManifest:
    """A read, if everything about the tool says so; otherwise a write, which nobody may use without a manifest."""
    said = _words(name)
    reads = read_only_hint is True or (read_only_hint is None and not said.isdisjoint(_READS))
    outward = any(is_place(each, declared, schema) for each, declared in properties_of(schema, schema).items())
    harmless = reads and said.isdisjoint(_CHANGES) and not outward
    return ToolManifest(scope="read") if harmless else ToolManifest(scope="write", dangerous=True)
