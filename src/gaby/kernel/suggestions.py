"""Answers to a name that is not known: the nearest one, and all there are."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 40


def unknown_name(what: str, given: str, known: Iterable[str]) -> str:
    """`There is no kind of source 'foldr'. Did you mean folder? There are: file, folder.`"""
    names = list(known)
    near = get_close_matches(given.lower()[:_LONGEST], names, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"There is no {what} {given[:_LONGEST]!r}.{meant} There are: {', '.join(names)}."
