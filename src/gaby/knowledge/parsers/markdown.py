"""Markdown stays as it is written, so that its lines are the lines of the file. Only its title is looked for."""

import re

from gaby.knowledge.parsers.front_matter import front_matter_end, front_matter_title

_FIRST_LINES = 4000
_TOP_HEADING = re.compile(r"^ {0,3}#[ \t]+([^\n]+)$|^([^\s#>|\-][^\n]*)\n=+[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_MARKS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|!?\[([^\[\]]*)\]\([^()]*\)|\{#[^{}]*\}|\\([!-/:-@\[-`{-~])")
_MARKED = re.compile(r"[*_`\[{\\#]")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+$")
_LONGEST_HEADING = 200


def markdown_title(text: str) -> str | None:
    """From its front matter, else its first top heading that stands before any code."""
    named = front_matter_title(text)
    if named:
        return named
    begin = front_matter_end(text)
    fence = _FENCE.search(text, begin, begin + _FIRST_LINES)
    heading = _TOP_HEADING.search(text, begin, fence.start() if fence else begin + _FIRST_LINES)
    return plain_words(heading[1] or heading[2]) if heading else None


def plain_words(heading: str) -> str:
    """A heading on one line, without its emphasis, links and anchors."""
    words = " ".join(heading[: _LONGEST_HEADING * 4].split())
    if _MARKED.search(words):
        words = _MARKS.sub(lambda mark: mark[1] or mark[2] or "", _CLOSING_HASHES.sub("", words)).strip()
    return words if len(words) <= _LONGEST_HEADING else words[: _LONGEST_HEADING - 1].rstrip() + "…"
