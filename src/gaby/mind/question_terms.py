"""What a question asks about: its weighted terms, and the tokens that an answer must have exactly.

Codes, numbers behind a word (`error 809`) and names are matched letter by letter; an answer about error 720 is none.
"""

import re
from collections.abc import Iterator
from functools import cache

from gaby.mind.entities import extract
from gaby.mind.languages import ENGLISH, fold, function_words
from gaby.mind.words import STOP_WORDS, listed, stem, words

_HYPHENED = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
_RUN = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)*")
_NUMBERED = re.compile(r"([^\W\d_]{2,30})[ \t]*(?:#|no\.?|nr\.?)?[ \t]*([0-9]{1,12})\b")
_PART = re.compile(r"[.!?:;,()\"“”|–—]+")
_NAME_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_SHORTEST = 3
Name = tuple[str, ...]
_ASKING = listed(
    """
    way ways long much often possible able question questions wondering wonder help hello good morning afternoon day
    asap fyi
    problem issue works work working need needs needed want wanted know says said tell told please thanks anybody anyone
    somebody someone new ones thing things something right correct best exactly actually currently happens happen mean
    means far ahead whats hows wheres whens whos nd rd th
    """
)
"""Words of asking, which no page has to say."""
_CALENDAR = listed(
    """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec christmas easter
    """
)
_LIGHT = listed(
    """
    already always never again back today tomorrow yesterday ago soon early later next last first once
    come comes came coming go goes going went gone keep keeps kept bring brings brought put puts leave leaves left
    look looks looking find found start starts begin begins end ends happen happens get think thought guess hope hear
    anything everything nothing anybody everybody nobody everyone probably maybe perhaps really quite simply quick
    quickly kind sort lot bit little big small whole old long short several few both another different same certain
    person people guy guys
    along together per two three four five six seven eight nine ten half
    allowed stay stays live lives buy bought add see show shows tell send sending enter count counts
    """
)
"""Words that say little about what is meant: others stand in their place on a page just as well."""


def content_terms(text: str, language: str = ENGLISH) -> list[str]:
    """The stems of what a text is about, in order; of `Wi-Fi` also `wifi`. Function words of English and of the
    language are left out."""
    little = _little(language)
    text = fold(text)
    stems = [stem(word) for word in words(text) if word not in little and len(word) > 1]
    joined = ("".join(filter(str.isalnum, each)).lower() for each in _HYPHENED.findall(text))
    return [*stems, *(stem(word) for word in joined)]


def asked_terms(text: str, language: str = ENGLISH) -> list[str]:
    """The same without the words of asking, unless nothing else is there."""
    content = content_terms(text, language)
    return [each for each in content if each not in _asking()] or content


def telling_terms(text: str, language: str = ENGLISH) -> list[str]:
    """The same without those that say little: what a question is really about."""
    return [each for each in asked_terms(text, language) if not is_light(each)]


def is_light(term: str) -> bool:
    return term.isdigit() or term in _light() or term in _asking()


def exact_tokens(text: str) -> set[str]:
    """Everything with a digit, in one spelling: `E-14` is `e14`. The number 3.5 is not 35."""
    return {spelled(each) for each in _RUN.findall(text) if any(map(str.isdigit, each))}


def spelled(token: str) -> str:
    return token.lower().replace("-", "").replace("_", "").strip(".")


def numbered(text: str) -> set[tuple[str, str]]:
    """Words with the number behind them: `error 809`."""
    pairs = ((word.lower(), number) for word, number in _NUMBERED.findall(text))
    return {(stem(word), number) for word, number in pairs if word not in _little()}


def codes(text: str) -> set[str]:
    """Error codes of a text, in one spelling."""
    return {token for each in extract(text) if each.kind == "error_code" for token in exact_tokens(each.value)}


def called_terms(text: str) -> set[str]:
    """The stems of all that is written as a name, without the days and months that every text has."""
    name_words = (*marked_names(text), *(word for name in names(text) for word in name))
    return {term for word in name_words if word not in _CALENDAR for term in content_terms(word)}


def names(text: str) -> set[Name]:
    """Runs of words that are written as names: with capital letters, or with a digit or a capital inside. A single
    capital letter at the beginning of a sentence makes no name."""
    return {each for line in text.splitlines() for part in _PART.split(line) for each in _names(part)}


def marked_names(text: str) -> set[str]:
    """Words that are names wherever they stand, such as `SAP` and `iPhone`. Two letters make none: `PC`, `IT`."""
    candidates = (each for each in _NAME_WORD.findall(text) if len(each) >= _SHORTEST and each.isalpha())
    return {each.lower() for each in candidates if any(map(str.isupper, each[1:]))} - _ASKING


def every_word(text: str) -> set[str]:
    """In lower case, whole: `marked_names` are looked for among them."""
    return {each.lower() for each in _NAME_WORD.findall(text)} | set(words(text))


def _names(part: str) -> Iterator[Name]:
    run: list[str] = []
    name_words = _NAME_WORD.findall(part)
    for place, word in enumerate([*name_words, ""]):
        if word and _is_named(word):
            run.append(word.lower())
            continue
        while run and run[0] in _little():
            run.pop(0)
        begins_only = place == 1 and not _has_mark(name_words[0])
        if run and not begins_only:
            yield tuple(run)
        run = []


def _is_named(word: str) -> bool:
    return not word.isdigit() and (word[0].isupper() or _has_mark(word))


def _has_mark(word: str) -> bool:
    """A capital letter or a digit inside makes a name wherever it stands."""
    return any(map(str.isupper, word[1:])) or any(map(str.isdigit, word))


@cache
def _little(language: str = ENGLISH) -> frozenset[str]:
    return STOP_WORDS | function_words()[ENGLISH] | function_words().get(language, frozenset())


@cache
def _light() -> frozenset[str]:
    return frozenset(map(stem, _LIGHT))


@cache
def _asking() -> frozenset[str]:
    return frozenset(map(stem, _ASKING))
