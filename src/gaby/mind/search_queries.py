"""Search queries out of a ticket: its error codes and what they happen at, and the sentences that tell most."""

from collections import Counter
from collections.abc import Iterator, Sequence

from gaby.mind.entities import Entity, EntityKind, extract
from gaby.mind.key_sentences import is_courtesy, telling
from gaby.mind.sentences import Sentence, split
from gaby.mind.words import STOP_WORDS, stem, terms, words

READ = 20_000
_LONGEST = 240
_ALIKE = 0.7
_AROUND = 8
_LONG = 80
_KEYWORDS = 20
# Who and when: no page of a knowledge base speaks of that.
_PRIVATE: frozenset[EntityKind] = frozenset(
    {"email", "uuid", "phone", "ip", "username", "date", "time", "url", "id", "money", "quantity"}
)


def queries(text: str, limit: int = 3) -> list[str]:
    """At most `limit`, the most promising first, without names, addresses, ids and dates."""
    search_phrases: list[str] = []
    for query in _candidates(text[:READ]):
        if len(search_phrases) >= limit:
            break
        if query and not any(_is_alike(query, other) for other in search_phrases):
            search_phrases.append(query)
    return search_phrases


def _candidates(text: str) -> Iterator[str]:
    sentences = split(text)
    entities = extract(text)
    if title := _title(sentences):
        yield _bare(title, entities)
    for entity in entities:
        if entity.kind == "error_code":
            yield _about_code(entity, sentences, entities)
    yield _keywords(sentences, entities)
    for sentence in telling(sentences):
        yield _bare(sentence, entities)
    # A ticket that is all log or quotation is searched for by what there is.
    for sentence in sentences:
        yield _bare(sentence, entities)


def _keywords(sentences: Sequence[Sentence], entities: Sequence[Entity]) -> str:
    """What a long text speaks of most. In a short one every word has its sentence."""
    own = [sentence for sentence in sentences if sentence.is_own]
    spoken = [word for sentence in own for word in words(_bare(sentence, entities))]
    telling_words = [word for word in spoken if word not in STOP_WORDS and len(word) > 2 and not word.isdigit()]
    if len(telling_words) < _LONG:
        return ""
    spelled: dict[str, str] = {}
    for word in telling_words:
        spelled.setdefault(stem(word), word)
    common = Counter(stem(word) for word in telling_words).most_common(_KEYWORDS)
    return " ".join(spelled[term] for term, _ in common)


def _title(sentences: Sequence[Sentence]) -> Sentence | None:
    """A subject line, if there is one."""
    for sentence in sentences[:6]:
        if sentence.kind == "header" and sentence.text.lower().startswith("subject:"):
            cut = len("subject:")
            return Sentence(sentence.text[cut:], sentence.start + cut, sentence.end, "prose")
    return None


def _about_code(code: Entity, sentences: Sequence[Sentence], entities: Sequence[Entity]) -> str:
    home = next((sentence for sentence in sentences if sentence.start <= code.start < sentence.end), None)
    if home is None or home.kind in {"log", "code"}:
        return code.value
    around = [word for word in words(_bare(home, entities)) if word not in STOP_WORDS]
    own = set(words(code.value))
    return " ".join([code.value, *[word for word in dict.fromkeys(around) if word not in own][:_AROUND]])


def _bare(sentence: Sentence, entities: Sequence[Entity]) -> str:
    if is_courtesy(sentence):
        return ""
    pieces: list[str] = []
    at = sentence.start
    for entity in entities:
        if sentence.start <= entity.start < sentence.end and entity.kind in _PRIVATE:
            pieces.append(sentence.text[at - sentence.start : entity.start - sentence.start])
            at = entity.end
    pieces.append(sentence.text[at - sentence.start :])
    plain = Sentence(" ".join(pieces), sentence.start, sentence.end, sentence.kind).plain
    return plain[:_LONGEST].strip() if terms(plain) else ""


def _is_alike(first: str, second: str) -> bool:
    one, other = set(terms(first)), set(terms(second))
    return len(one & other) >= _ALIKE * max(1, min(len(one), len(other)))
