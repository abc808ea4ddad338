"""Documents that are made inside Gaby, such as what was learned and accepted."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from gaby.knowledge.documents import RawDocument
from gaby.knowledge.sources.source import Listed, SourceItem, SourceTotal


@dataclass(frozen=True)
class GeneratedDocument:
    uri: str
    fingerprint: str
    title: str
    markdown: str
    link: str | None = None


Documents = Callable[[], Awaitable[Sequence[GeneratedDocument]]]
"""All there are at this moment. Raises `SourceUnavailable` when it cannot say."""


class GeneratedSource:
    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list(self, known: Mapping[str, str], cursor: str | None) -> AsyncIterator[Listed]:
        documents = await self._documents()
        yield SourceTotal(len(documents))
        for document in documents:
            yield SourceItem(document.uri, document.fingerprint, partial(_bring, document))

    async def close(self) -> None:
        pass


async def _bring(document: GeneratedDocument) -> RawDocument:
    return as_markdown(document.uri, document.markdown, title=document.title, link=document.link)


def as_markdown(uri: str, text: str, *, title: str | None = None, link: str | None = None) -> RawDocument:
    return RawDocument(uri, text.encode(), media_type="text/markdown", charset="utf-8", title=title, link=link)
