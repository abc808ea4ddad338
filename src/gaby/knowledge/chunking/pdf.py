"""PDF: page by page, with the headings carried from page to page."""

from bisect import bisect_right

from gaby.knowledge.chunking.chunk_spans import ChunkSpan, belong, fitting, packed, together
from gaby.knowledge.chunking.prose import PLAIN
from gaby.knowledge.documents import DocumentText


def pdf_parts(text: DocumentText) -> list[ChunkSpan]:
    parts: list[ChunkSpan] = []
    for start, end, headings in _stretches(text):
        parts += packed(text.text, fitting(text.text, start, end, PLAIN), headings)
    return _together(parts, text.pages)


def _stretches(text: DocumentText) -> list[tuple[int, int, tuple[str, ...]]]:
    """From each page or heading to the next, with the headings that are in force there."""
    outline = sorted(text.outline, key=lambda heading: heading.start)
    length = len(text.text)
    begins = sorted({0, *(at for at in (*text.pages, *(heading.start for heading in outline)) if 0 <= at < length)})
    stretches: list[tuple[int, int, tuple[str, ...]]] = []
    path: list[tuple[int, str]] = []
    passed = 0
    for begin, end in zip(begins, [*begins[1:], length], strict=True):
        while passed < len(outline) and outline[passed].start <= begin:
            heading = outline[passed]
            while path and path[-1][0] >= heading.level:
                path.pop()
            path.append((heading.level, heading.title))
            passed += 1
        stretches.append((begin, end, tuple(title for _, title in path)))
    return stretches


def _together(parts: list[ChunkSpan], pages: tuple[int, ...]) -> list[ChunkSpan]:
    """Small neighbours of one page, and over the end of a page only where the same heading goes on."""
    result: list[ChunkSpan] = []
    for part in parts:
        last = result[-1] if result else None
        if last and belong(last.size, part.size) and _may_meet(last, part, pages):
            result[-1] = together(last, part)
        else:
            result.append(part)
    return result


def _may_meet(last: ChunkSpan, part: ChunkSpan, pages: tuple[int, ...]) -> bool:
    same_page = bisect_right(pages, last.start) == bisect_right(pages, part.start)
    return same_page or (last.headings == part.headings != ())
