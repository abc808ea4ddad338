"""Writes what a page says as Markdown: headings, lists, tables and code keep their form."""

import re

from gaby.knowledge.parsers.control_characters import cleaned
from gaby.knowledge.parsers.html_tables import HtmlTable
from gaby.knowledge.parsers.html_tokens import attributes
from gaby.knowledge.parsers.markdown import plain_words

_SPACE = re.compile(r"[ \t\n\r\f]+")
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "main", "header", "aside", "figure", "figcaption", "address", "fieldset"),
        *("form", "details", "summary", "body", "dl", "dt", "dd", "hr", "center", "html", "head", "hgroup", "legend"),
    )
)
# What would be taken for a mark of Markdown where a visitor saw mere text.
_MARK_LIKE = re.compile(r"#{1,6}(?:\s|$)|`{3}|~{3}|(?:=+|-+|\+{3,})$|\|")
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight(?:-source)?)-([\w+#-]{1,20})")
_DEEPEST_LIST = 6
_LONGEST_LINK = 300


class MarkdownWriter:
    def __init__(self) -> None:
        self.first_heading: str | None = None
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._heading = ""
        self._lists: list[int] = []
        """One for each open list: the number of its last item, or -1 where items have no numbers."""
        self._marker = ""
        self._quotes = 0
        self._code: list[str] | None = None
        self._language = ""
        self._link = ("", 0)
        """Where the open link leads, and where its words begin."""
        self._table: HtmlTable | None = None
        self._tables = 0

    def text(self, value: str) -> None:
        if self._code is not None:
            self._code.append(value)
        else:
            self._line.append(_SPACE.sub(" ", value))

    def begin(self, name: str, written: str) -> None:
        if name in _BLOCKS or name in _HEADINGS:
            self._flush()
            self._heading = _HEADINGS.get(name, "")
        elif self._code is not None and name != "pre":
            self._begin_in_code(name, written)
        elif name in _BEGIN:
            _BEGIN[name](self, name, written)

    def end(self, name: str) -> None:
        if name in _BLOCKS or name in _HEADINGS:
            self._flush()
            self._heading = ""
        elif name in _END:
            _END[name](self)

    def finished(self) -> str:
        self.end_code()
        while self._tables:
            self.end_table()
        self._flush()
        text = "".join(self._blocks).strip("\n")
        return cleaned(text) + "\n" if text else ""

    def begin_list(self, name: str, written: str) -> None:
        self._flush()
        self._lists.append(0 if name == "ol" else -1)

    def end_list(self) -> None:
        self._flush()
        if self._lists:
            self._lists.pop()
        self._marker = ""

    def begin_item(self, name: str, written: str) -> None:
        self._flush()
        number = self._lists[-1] if self._lists else -1
        if number >= 0:
            self._lists[-1] = number + 1
        self._marker = f"{number + 1}. " if number >= 0 else "- "

    def end_item(self) -> None:
        self._flush()
        self._marker = ""

    def begin_quote(self, name: str, written: str) -> None:
        self._flush()
        self._quotes += 1

    def end_quote(self) -> None:
        self._flush()
        self._quotes = max(self._quotes - 1, 0)

    def begin_code(self, name: str, written: str) -> None:
        self._flush()
        if self._code is None:
            self._code, self._language = [], _language(written)

    def end_code(self) -> None:
        lines, self._code = self._code, None
        code = "".join(lines or ()).strip("\n").replace("\r", "")
        if not code.strip() or (self._table and not code.strip("0123456789 \n")):
            return
        longest = max(map(len, re.findall(r"`{3,}", code)), default=2)
        fence = "`" * (longest + 1)
        block = f"{fence}{self._language}\n{code}\n{fence}"
        if self._table:
            self._table.after.append(block)
        else:
            self._put(block)

    def inline_code(self, name: str, written: str) -> None:
        self._line.append("`")

    def end_inline_code(self) -> None:
        if self._code is None:
            self._line.append("`")

    def line_break(self, name: str, written: str) -> None:
        self._line.append("\n")

    def picture(self, name: str, written: str) -> None:
        self._line.append(_SPACE.sub(" ", attributes(written).get("alt", "")))

    def begin_link(self, name: str, written: str) -> None:
        self._link = (attributes(written).get("href", "").strip(), len(self._line))

    def end_link(self) -> None:
        (href, since), self._link = self._link, ("", 0)
        absolute = href.startswith(("https://", "http://", "mailto:")) and len(href) <= _LONGEST_LINK
        words = "".join(self._line[since:]).strip() if absolute and not self._heading else ""
        if words and words not in href and not _SPACE.search(href):
            self._line.append(f" ({href.removeprefix('mailto:')})")

    def begin_table(self, name: str, written: str) -> None:
        self._flush()
        self._tables += 1
        self._table = self._table or HtmlTable()

    def end_table(self) -> None:
        self._flush()
        self._tables = max(self._tables - 1, 0)
        if self._table and not self._tables:
            done, self._table = self._table, None
            for block in done.blocks():
                self._put(block)

    def begin_row(self, name: str, written: str) -> None:
        self._flush()
        if self._table and self._tables == 1:
            self._table.row()

    def begin_cell(self, name: str, written: str) -> None:
        self._flush()
        if self._table and self._tables == 1:
            self._table.cell()

    def end_cell(self) -> None:
        self._flush()

    def _begin_in_code(self, name: str, written: str) -> None:
        if name == "br" and self._code is not None:
            self._code.append("\n")
        elif name == "code" and not self._language:
            self._language = _language(written)

    def _flush(self) -> None:
        """The words so far are a block."""
        if not self._line:
            return
        lines = [" ".join(line.split()) for line in "".join(self._line).split("\n")]
        self._line.clear()
        self._link = ("", 0)
        lines = [line for line in lines if line.strip("` ")]
        if not lines:
            return
        if self._table:
            self._table.words(" ".join(lines))
        elif self._heading:
            self._put_heading(plain_words(" ".join(lines).rstrip("¶ ")))
        else:
            self._put("\n".join("\\" + line if _MARK_LIKE.match(line) else line for line in lines))

    def _put_heading(self, words: str) -> None:
        if words:
            self.first_heading = self.first_heading or words
            self._put(f"{self._heading} {words}", top=True)

    def _put(self, block: str, *, top: bool = False) -> None:
        depth = 0 if top else min(len(self._lists), _DEEPEST_LIST)
        marker, self._marker = self._marker, ""
        quote = "> " if self._quotes and not top else ""
        indent = quote + "   " * depth
        first = quote + "   " * (depth - 1) + marker if depth and marker else indent
        gap = "\n" if depth and marker else "\n\n"
        self._blocks.append(gap + first + block.replace("\n", "\n" + indent))


def _language(written: str) -> str:
    match = _LANGUAGE.search(written[:2000])
    return match[1] if match else ""


_BEGIN = {
    "ul": MarkdownWriter.begin_list,
    "ol": MarkdownWriter.begin_list,
    "li": MarkdownWriter.begin_item,
    "blockquote": MarkdownWriter.begin_quote,
    "pre": MarkdownWriter.begin_code,
    "code": MarkdownWriter.inline_code,
    "br": MarkdownWriter.line_break,
    "img": MarkdownWriter.picture,
    "a": MarkdownWriter.begin_link,
    "table": MarkdownWriter.begin_table,
    "tr": MarkdownWriter.begin_row,
    "td": MarkdownWriter.begin_cell,
    "th": MarkdownWriter.begin_cell,
}
_END = {
    "ul": MarkdownWriter.end_list,
    "ol": MarkdownWriter.end_list,
    "li": MarkdownWriter.end_item,
    "blockquote": MarkdownWriter.end_quote,
    "pre": MarkdownWriter.end_code,
    "code": MarkdownWriter.end_inline_code,
    "a": MarkdownWriter.end_link,
    "table": MarkdownWriter.end_table,
    "td": MarkdownWriter.end_cell,
    "th": MarkdownWriter.end_cell,
}
