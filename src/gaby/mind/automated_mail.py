"""Mail that no person wrote to us, by what it says: absence notes, bounces, newsletters, receipts,
notices.

A machine's sentences are known by heart; the rest of the mail must not tell of anything. A person who speaks of a
newsletter, of a bounce or of having been away is a person.
"""

from functools import cache

import orjson

from gaby.mind import concepts
from gaby.mind.key_sentences import SYMPTOM
from gaby.mind.languages import fold
from gaby.mind.package_data import text_of
from gaby.mind.prompt_injection import orders
from gaby.mind.sentences import split
from gaby.mind.words import words

_READ = 8000
_SEVERAL = 2
_KINDS = ("absence", "returned", "bulk", "receipt", "notice")
_TROUBLE = frozenset({"fault", "unavailable", "danger", "signing_in", "programming"})


def written_by(text: str) -> str | None:
    """What kind of machine wrote it. None when a person may have; in doubt a person has."""
    text = text[:_READ]
    if orders(text):
        return None
    title, _, body = text.partition("\n\n") if "\n\n" in text else ("", "", text)
    marks = {kind: _marks(text, kind) for kind in _KINDS}
    is_titled = any(_has(_spoken(title), phrase) for phrase in _phrases("titles"))
    # The title of an automatic reply is that of the message which it answers.
    rest = _rest(body if is_titled else text)
    is_personal, is_telling = _is_personal(rest) or _complains(rest), _tells(rest)
    kinds = {
        "It is an absence note.": _is_absence(marks["absence"], is_titled=is_titled)
        and not is_telling
        and "?" not in rest,
        "It is a report about a letter that came back.": len(marks["returned"]) >= _SEVERAL and not is_personal,
        "It is a newsletter.": len(marks["bulk"]) >= _SEVERAL and not is_personal,
        "It is a receipt that a program sent.": marks["receipt"] and not is_personal and not is_telling,
        # What a system reports of trouble is worth a look, whether or not somebody reads the answer.
        "It is a notice that nobody can answer.": marks["notice"] and not is_personal and not is_telling,
    }
    return next((reason for reason, fits in kinds.items() if fits), None)


def tells_trouble(text: str) -> bool:
    """Besides what machines say."""
    return _tells(_rest(text[:_READ]))


def _is_absence(marks: set[str], *, is_titled: bool) -> bool:
    """Said in the title, or twice in the text."""
    return bool(marks) if is_titled else len(marks) >= _SEVERAL


def _marks(text: str, kind: str) -> set[str]:
    phrases = {phrase for each in split(text) for phrase in _said(_spoken(each.plain), kind)}
    return {phrase for phrase in phrases if not any(phrase != other and phrase in other for other in phrases)}


def _said(spoken: str, kind: str) -> list[str]:
    """The phrases of that kind. A newsletter says `unsubscribe`; a person says `I clicked unsubscribe`."""
    who = {"bulk": ("persons", "groups"), "returned": ("groups",)}.get(kind, ())
    if any(not _word_list(name).isdisjoint(spoken.split()) for name in who):
        return []
    return [phrase for phrase in _phrases(kind) if _has(spoken, phrase)]


def _rest(text: str) -> str:
    """What no machine says."""
    kept = [each.plain for each in split(text) if not any(_said(_spoken(each.plain), kind) for kind in _KINDS)]
    return "\n".join(kept)


def _is_personal(text: str) -> bool:
    return not _word_list("persons").isdisjoint(_spoken(text).split())


def _complains(text: str) -> bool:
    """A company speaks of its own trouble, below which its mail program may put what it likes."""
    return any(
        not _word_list("groups").isdisjoint(_spoken(each.plain).split())
        and (SYMPTOM.search(each.plain) or _tells(each.plain))
        for each in split(text)
    )


def _tells(text: str) -> bool:
    return not _TROUBLE.isdisjoint(concepts.mentioned(text))


def _spoken(text: str) -> str:
    return " ".join(words(fold(text)))


def _has(spoken: str, phrase: str) -> bool:
    return f" {phrase} " in f" {spoken} "


@cache
def _listed() -> dict[str, list[str] | str]:
    return orjson.loads(text_of("machines.json"))


@cache
def _phrases(kind: str) -> tuple[str, ...]:
    return tuple(_listed()[kind])


@cache
def _word_list(name: str) -> frozenset[str]:
    return frozenset(str(_listed()[name]).split())
