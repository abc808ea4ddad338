"""Markdown of an answer as HTML, for desks and mail programs that would show the stars and hashes."""

from markdown_it import MarkdownIt

# `html` off spells out whatever looks like a tag, and nothing is made that loads or leads elsewhere.
_READER = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable(["link", "image", "autolink", "reference"])


def as_html(markdown: str) -> str:
    """Lists, emphasis, code and paragraphs. Links stay words: the reader's program shows where they really lead."""
    return _READER.render(markdown)
