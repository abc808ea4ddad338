"""What holds for every text that is cut, whatever its kind."""

from gaby.knowledge.chunking import cut
from gaby.knowledge.documents import DocumentText, Passage


def lawful(text: DocumentText) -> list[Passage]:
    """The passages, after checking that they are the text, in order, and number its lines and pages rightly."""
    passages = cut(text)
    assert "".join(passage.extract(text.text) for passage in passages) == text.text
    assert [passage.start for passage in passages] == [0, *(passage.end for passage in passages[:-1])][: len(passages)]
    for passage in passages:
        _numbers(text, passage)
    assert cut(text) == passages
    return passages


def _numbers(text: DocumentText, passage: Passage) -> None:
    words = passage.extract(text.text)
    assert words
    first = passage.start + len(words) - len(words.lstrip()) if words.strip() else passage.start
    last = passage.start + len(words.rstrip()) - 1 if words.strip() else passage.start
    assert passage.first_line == text.text.count("\n", 0, first) + 1
    assert passage.last_line == text.text.count("\n", 0, last) + 1
    if text.pages:
        assert passage.first_page == sum(start <= first for start in text.pages)
        assert passage.last_page == sum(start <= last for start in text.pages)
    else:
        assert passage.first_page is passage.last_page is None


def in_one_passage(passages: list[Passage], start: int, end: int) -> bool:
    return any(passage.start <= start and end <= passage.end for passage in passages)
