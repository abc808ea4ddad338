"""What a document is called when nobody says: one clean line."""

import re

from gaby.knowledge.parsers.kinds import base_name

_LONGEST = 200
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\s]+")
_SEPARATORS = re.compile(r"[-_+]+|%20")
_INDEXES = frozenset(("index", "_index", "readme", "default", "main"))


def title_of(*titles: str | None, uri: str) -> str:
    """The first of these that says something, else what the name of the file suggests."""
    return next(filter(None, map(clean_title, titles)), None) or title_from_name(uri)


def clean_title(title: str | None) -> str | None:
    """None when nothing is left of it."""
    text = _UNWANTED.sub(" ", (title or "")[: _LONGEST * 8]).strip()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def title_from_name(uri: str) -> str:
    """`kubernetes/crash-loops.md` is called `crash loops`, and `etcd/_index.md` is called `etcd`."""
    base = base_name(uri)
    stem = base.rpartition(".")[0] or base
    if stem.lower() in _INDEXES:
        folder = base_name(uri.rstrip("/")[: -len(base)])
        stem = folder or stem
    return clean_title(_SEPARATORS.sub(" ", stem)) or clean_title(uri) or "Untitled"
