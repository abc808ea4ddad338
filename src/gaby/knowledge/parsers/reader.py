"""One way to read whatever a source brought."""

from gaby.knowledge.documents import DocumentText, RawDocument, Unreadable
from gaby.knowledge.parsers.binary_files import begins_as_pdf, binary_name
from gaby.knowledge.parsers.kinds import HTML, MARKDOWN, PDF, PLAIN, base_name, kind_of
from gaby.knowledge.parsers.markdown import markdown_title
from gaby.knowledge.parsers.plain_text import without_colours
from gaby.knowledge.parsers.text_encodings import decode
from gaby.knowledge.parsers.titles import title_of

LIMIT_BYTES = 20_000_000
_EMPTY = "It is empty."


def read(brought: RawDocument, *, limit_bytes: int = LIMIT_BYTES) -> DocumentText:
    """Pure and blocking. Raises `Unreadable` with the reason and what to do about it."""
    data = brought.data
    if not data:
        raise Unreadable(_EMPTY)
    if len(data) > limit_bytes:
        raise Unreadable(
            f"It has {len(data) / 1e6:.1f} MB; at most {limit_bytes / 1e6:.1f} MB are read. Split it, or leave it out."
        )
    kind = kind_of(brought.uri, brought.media_type)
    if begins_as_pdf(data):
        kind = PDF
    text = _read(brought, _readable(kind, data), limit_bytes)
    if not text.text or text.text.isspace():
        raise Unreadable(_EMPTY)
    return text


def _readable(kind: str | None, data: bytes) -> str:
    binary = binary_name(data)
    if binary:
        raise Unreadable(f"It is {binary}, whatever its name says. Leave it out, or save it as text, Markdown or PDF.")
    if kind is None:
        raise Unreadable("It is no kind of document that is read. Save it as text, Markdown, HTML or PDF.")
    return kind


def _read(brought: RawDocument, kind: str, limit_bytes: int) -> DocumentText:
    uri = brought.uri
    match kind:
        case "pdf":
            from gaby.knowledge.parsers.pdf import pdf_text

            pdf = pdf_text(brought.data, limit_characters=limit_bytes)
            title = title_of(brought.title, pdf.title, uri=uri)
            return DocumentText(title, pdf.text, PDF, pdf.pages, pdf.outline)
        case "html":
            from gaby.knowledge.parsers.html import html_text

            own, text = html_text(brought.data, brought.charset)
            return DocumentText(title_of(brought.title, own, uri=uri), text, HTML)
        case "markdown":
            text = decode(brought.data, brought.charset)
            return DocumentText(title_of(brought.title, markdown_title(text), uri=uri), text, MARKDOWN)
        case "plain":
            text = without_colours(decode(brought.data, brought.charset))
            return DocumentText(title_of(brought.title, uri=uri), text, PLAIN)
        case language:
            text = decode(brought.data, brought.charset)
            return DocumentText(title_of(brought.title, base_name(uri), uri=uri), text, language)
