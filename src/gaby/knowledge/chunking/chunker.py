"""The one way to cut a text, whatever its kind."""

from bisect import bisect_right
from collections.abc import Sequence

from gaby.knowledge.chunking.chunk_spans import ChunkSpan
from gaby.knowledge.chunking.code import CodeNode, code_parts
from gaby.knowledge.chunking.markdown import markdown_parts
from gaby.knowledge.chunking.pdf import pdf_parts
from gaby.knowledge.chunking.prose import plain_parts
from gaby.knowledge.documents import DocumentText, Passage

# Longer files were written by programs, and a parser would need a hundred times their size.
_MOST_CODE = 400_000


def cut(text: DocumentText) -> list[Passage]:
    """Passages that are the text when put one behind the other. The same text is always cut in the same way."""
    return _numbered(text.text, _parts(text), text.pages) if text.text else []


def _parts(text: DocumentText) -> list[ChunkSpan]:
    match text.kind:
        case "markdown" | "html":
            return markdown_parts(text.text)
        case "pdf":
            return pdf_parts(text)
        case "plain":
            return plain_parts(text.text)
        case language:
            nodes = _nodes(text.text, language)
            return plain_parts(text.text) if nodes is None else code_parts(text.text, nodes)


def _nodes(text: str, language: str) -> list[CodeNode] | None:
    """None where the rules for plain text are to be used."""
    if len(text) > _MOST_CODE:
        return None
    if language == "python":
        from gaby.knowledge.chunking.python import python_nodes

        return python_nodes(text)
    from gaby.knowledge.chunking.languages import GRAMMARS

    if language not in GRAMMARS:
        return None
    from gaby.knowledge.chunking.trees import tree_nodes

    return tree_nodes(text, language)


def _numbered(text: str, parts: Sequence[ChunkSpan], pages: Sequence[int]) -> list[Passage]:
    """Lines and pages are those of the first and the last character that can be seen."""
    passages: list[Passage] = []
    line, counted = 1, 0
    for part in parts:
        words = text[part.start : part.end]
        first = part.end - len(words.lstrip()) if not words.isspace() else part.start
        last = max(part.start + len(words.rstrip()) - 1, first)
        first_line = line + text.count("\n", counted, first)
        last_line = first_line + text.count("\n", first, last)
        first_page, last_page = (bisect_right(pages, first), bisect_right(pages, last)) if pages else (None, None)
        passages.append(Passage(part.start, part.end, first_line, last_line, part.headings, first_page, last_page))
        line, counted = last_line, last
    return passages
